"""The contract of agents that packages bring: Steward can list them, and can make tools of their functions."""

from steward.agents import PackageAgent
from steward.broker import Role, roles_of
from steward.plugins import agent_tool


def check_package_agent(agent: PackageAgent) -> None:
    """AssertionError says what an agent does not keep."""
    document = agent.document
    assert document.name == agent.name, f"{agent.name} is listed as {document.name}"
    for function, authored in agent.authored.tools.items():
        assert authored.description, f"{function} has no description; write a docstring"
        tool = agent_tool(agent, function)
        for path, role in roles_of(tool.schema()).items():
            assert role is not Role.undeclared or agent.risk(function).value == "read", (
                f"{function}: argument {path} declares no x-role, so every call of it would be doubted"
            )
