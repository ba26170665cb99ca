"""The interpreter of flows: a program for runs, over the journal."""

from collections.abc import Callable

from steward.flows._graph import (
    ApproveBatch,
    CallTool,
    CodeProblem,
    GiveBack,
    Observe,
    Progress,
    RunAgent,
    Services,
    SetAside,
    run_graph,
)
from steward.flows.node import Labels, Valued
from steward.flows.validate import runnable
from steward.runs import Execution, Json, Program


def flow_program(
    call_tool: CallTool,
    run_agent: RunAgent | None = None,
    *,
    approve_batch: ApproveBatch | None = None,
    input_labels: Callable[[Execution], Labels | None] = lambda _: None,
    foreign_labels: Labels | None = None,
    child_labels: Labels | None = None,
    error_labels: Labels | None = None,
    observe: Observe | None = None,
    set_aside: SetAside | None = None,
    give_back: GiveBack | None = None,
    code_problem: CodeProblem | None = None,
) -> Program:
    """The program `flow`: runs the flow in the request's document with the request's inputs.

    `call_tool(execution, key, tool, arguments, labels, accept_failure)` is the broker; it answers with a value, or with an object that
    has `value` and `labels`. `labels` has those of each argument, by name, where there are any.
    `run_agent(execution, key, agent, labels)` runs an agent to its end, with the labels of its instructions, context and
    arguments. Both record what they do under the key.
    `approve_batch(execution, key, tool, calls)` asks once for a list of calls that will follow.
    `observe` is told of every node that is over.
    `set_aside(execution, key, parts, node)` holds budget for the items of a map or the branches of a parallel, and
    `give_back(execution, key)` frees what they did not use.
    `code_problem(execution)` says why code that was fixed for the run is not what is installed now.
    `input_labels` says what a run's inputs carry, `foreign_labels` what those carry that somebody outside wrote, `child_labels` what the output of a sub-run does, `error_labels` what
    the text of an error does when a flow goes on after it; unset, it is taken for the text of a stranger as well.
    """
    services = Services(
        call_tool,
        run_agent,
        approve_batch,
        child_labels,
        error_labels or child_labels,
        observe,
        set_aside,
        give_back,
        code_problem,
    )

    async def run_flow(execution: Execution) -> Json:
        flow = runnable(execution.request.document)
        foreign = execution.request.foreign if foreign_labels is not None else ()
        parts = {name: foreign_labels for name in foreign if foreign_labels is not None}
        inputs = Valued(execution.request.inputs, input_labels(execution), parts=parts)
        found = await run_graph(execution, services, flow, inputs, "", Progress(execution))
        return found.value

    return run_flow
