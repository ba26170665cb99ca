/** A flow tested on its drawing: inputs from the schema or a past run, no effects, outputs beside the last good run. */
import { t } from '@lingui/core/macro';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { flowPaletteQuery, languageOf } from '@/api/flows';
import { priceQuery, type TestWish, testResultsQuery, useStartTest } from '@/api/playbook-tests';
import { type PlaybookDetail, playbookQuery } from '@/api/playbooks';
import { projectPath, useProject } from '@/app/project';
import { ErrorState } from '@/components/ErrorState';
import { FormError } from '@/components/FormError';
import { LoadingLines } from '@/components/LoadingLines';
import { Page } from '@/components/Page';
import { usePathParam } from '@/components/use-path-param';
import { useSearchParam } from '@/components/use-search-param';
import { readYaml } from '@/flows/document';
import { nodesWithin, nodeTitle, readGraph } from '@/flows/graph';
import { KeptTests } from './KeptTests';
import { StepPanel } from './StepPanel';
import { TestCanvas } from './TestCanvas';
import { TestForm } from './TestForm';
import { TestOutcome } from './TestOutcome';
import { plainKey } from './step-state';
import classes from './testing.module.css';

export default function TestPage() {
  const project = useProject();
  const playbookId = usePathParam('playbookId') ?? '';
  const playbook = useQuery(playbookQuery(project.id, playbookId));
  const palette = useQuery(flowPaletteQuery(project.id));
  const error = playbook.error ?? palette.error;
  if (error) {
    return (
      <Page title={t`Test`} parent={{ label: t`Flows`, to: projectPath(project.id, 'flows') }}>
        <ErrorState error={error} retry={() => void playbook.refetch()} />
      </Page>
    );
  }
  if (!playbook.data || !palette.data) return <LoadingLines />;
  return <TestBench playbook={playbook.data} palette={palette.data} />;
}

interface Props {
  playbook: PlaybookDetail;
  palette: Parameters<typeof languageOf>[0];
}

function TestBench({ playbook, palette }: Props) {
  const project = useProject();
  const language = useMemo(() => languageOf(palette), [palette]);
  const titleOf = useMemo(() => {
    const graph = readGraph(readYaml(playbook.source).value, language);
    const titles = new Map(nodesWithin(graph).map((node) => [node.key, nodeTitle(node)]));
    return (key: string) => titles.get(plainKey(key)) ?? key;
  }, [playbook.source, language]);
  const [runId, setRunId] = useSearchParam('run');
  const [step, setStep] = useState<string | null>(null);
  const [mocks, setMocks] = useState<Readonly<Record<string, unknown>>>({});
  const [breakpoints, setBreakpoints] = useState<readonly string[]>([]);
  const start = useStartTest(project.id, playbook.id);
  const price = useQuery(priceQuery(project.id, playbook.id)).data;
  const results = useQuery({
    ...testResultsQuery(project.id, playbook.id, runId ?? ''),
    enabled: runId !== null,
  });
  const begin = (wish: Partial<TestWish>) =>
    start.mutate(
      { inputs: {}, spend: false, ask: false, mocks, breakpoints: [...breakpoints], ...wish },
      { onSuccess: ({ id }) => setRunId(id) },
    );
  return (
    <Page
      title={t`Test ${playbook.name}`}
      description={t`A test works on a branch of the data. It sends nothing and asks no model unless you say so.`}
      width="full"
      parent={[
        { label: t`Flows`, to: projectPath(project.id, 'flows') },
        { label: playbook.name, to: projectPath(project.id, 'flows', playbook.id) },
      ]}
    >
      <div className={classes.bench}>
        <div className={classes.drawing}>
          <TestCanvas
            text={playbook.source}
            layout={playbook.layout}
            language={language}
            names={palette}
            results={results.data}
            mocks={mocks}
            breakpoints={breakpoints}
            price={price}
            chosen={step}
            onChoose={setStep}
          />
        </div>
        <div className={classes.side}>
          {playbook.may_edit && (
            <TestForm
              playbook={playbook}
              step={step}
              title={step === null ? null : titleOf(step)}
              isPending={start.isPending}
              lastTest={runId}
              onStart={begin}
            />
          )}
          <FormError error={start.error} />
          {results.isError && (
            <ErrorState error={results.error} retry={() => void results.refetch()} />
          )}
          {results.data && (
            <TestOutcome playbook={playbook} results={results.data} titleOf={titleOf} />
          )}
          {step !== null && (
            <StepPanel
              key={step}
              step={step}
              title={titleOf(step)}
              result={results.data?.nodes.find(({ key }) => plainKey(key) === step)}
              mock={mocks[step]}
              isMocked={step in mocks}
              isBreakpoint={breakpoints.includes(step)}
              onMock={(value, isKept) =>
                setMocks(
                  isKept
                    ? { ...mocks, [step]: value }
                    : Object.fromEntries(Object.entries(mocks).filter(([key]) => key !== step)),
                )
              }
              onBreakpoint={(isSet) =>
                setBreakpoints(
                  isSet ? [...breakpoints, step] : breakpoints.filter((each) => each !== step),
                )
              }
            />
          )}
          <KeptTests playbook={playbook} />
        </div>
      </div>
    </Page>
  );
}
