/** Steering a run, and what can be done with its record. */
import { t } from '@lingui/core/macro';
import { Button, Menu } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import {
  BadgeCheck,
  ChevronDown,
  Download,
  FlaskConical,
  GitFork,
  Pause,
  Play,
  RotateCcw,
  Sparkles,
  Square,
} from 'lucide-react';
import { projectKey } from '@/api/keys';
import type { RunDetail } from '@/api/run-types';
import { capsuleAddress, type Control, controlRun, isFinal } from '@/api/runs';
import { projectPath, useMay, useProject } from '@/app/project';
import { showFailure } from '@/components/undo';
import { useDialog } from '@/components/use-search-param';
import { CheckDialog } from './CheckDialog';
import { ForkDialog } from './ForkDialog';
import { TakeBackButton } from './TakeBack';

export function RunControls({ run }: { run: RunDetail }) {
  const maySteer = useMay('operator');
  const isRunner = useProject().role === 'runner';
  return (
    <>
      {(maySteer || isRunner) && !isFinal(run.status) && <Steering run={run} />}
      {!isRunner && <TakeBackButton run={run} />}
      {!isRunner && <AnalyseButton run={run} />}
      {!isRunner && <RecordMenu run={run} />}
    </>
  );
}

function AnalyseButton({ run }: { run: RunDetail }) {
  const project = useProject();
  return (
    <Button
      component={Link}
      to={`${projectPath(project.id, 'runs', run.id)}?tab=trace&analysis=on`}
      variant="default"
      leftSection={<Sparkles size={14} aria-hidden />}
    >
      {t`Analyse`}
    </Button>
  );
}

function Steering({ run }: { run: RunDetail }) {
  const project = useProject();
  const client = useQueryClient();
  const control = useMutation({
    mutationFn: (action: Control) => controlRun(project.id, run.id, action),
    onError: showFailure,
    onSettled: () => client.invalidateQueries({ queryKey: projectKey(project.id, 'run') }),
  });
  const isPaused = run.control === 'pause';
  return (
    <>
      {project.role !== 'runner' && (
        <Button
          variant="default"
          leftSection={isPaused ? <Play size={14} aria-hidden /> : <Pause size={14} aria-hidden />}
          loading={control.isPending && control.variables !== 'cancel'}
          onClick={() => control.mutate(isPaused ? 'resume' : 'pause')}
        >
          {isPaused ? t`Resume` : t`Pause`}
        </Button>
      )}
      <Button
        variant="default"
        leftSection={<Square size={13} aria-hidden />}
        loading={control.isPending && control.variables === 'cancel'}
        disabled={run.control === 'cancel'}
        onClick={() => control.mutate('cancel')}
      >
        {run.control === 'cancel' ? t`Cancelling` : t`Cancel`}
      </Button>
    </>
  );
}

function RecordMenu({ run }: { run: RunDetail }) {
  const project = useProject();
  const mayFork = useMay('editor');
  const fork = useDialog('fork');
  const replay = useDialog('replay');
  const verify = useDialog('verify');
  const file = (asTest: boolean) => capsuleAddress(project.id, run.id, asTest);
  return (
    <>
      <Menu position="bottom-end" withinPortal>
        <Menu.Target>
          <Button variant="default" rightSection={<ChevronDown size={14} aria-hidden />}>
            {t`Record`}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<RotateCcw size={14} aria-hidden />} onClick={replay.open}>
            {t`Replay`}
          </Menu.Item>
          <Menu.Item leftSection={<BadgeCheck size={14} aria-hidden />} onClick={verify.open}>
            {t`Verify`}
          </Menu.Item>
          {mayFork && (
            <Menu.Item leftSection={<GitFork size={14} aria-hidden />} onClick={fork.open}>
              {t`Fork`}
            </Menu.Item>
          )}
          <Menu.Item
            component="a"
            href={file(false)}
            download
            leftSection={<Download size={14} aria-hidden />}
          >
            {t`Export as a capsule`}
          </Menu.Item>
          {isFinal(run.status) && (
            <Menu.Item
              component="a"
              href={file(true)}
              download
              leftSection={<FlaskConical size={14} aria-hidden />}
            >
              {t`Record as a test`}
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      <CheckDialog run={run} kind="replay" opened={replay.opened} onClose={replay.close} />
      <CheckDialog run={run} kind="verify" opened={verify.opened} onClose={verify.close} />
      {mayFork && <ForkDialog run={run} opened={fork.opened} onClose={fork.close} />}
    </>
  );
}
