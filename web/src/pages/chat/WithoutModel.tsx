/** Says calmly that no model is set up, what works anyway, and where to add one; nothing waits for it. */
import { t } from '@lingui/core/macro';
import { Anchor } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Info } from 'lucide-react';
import { modelsQuery } from '@/api/models';
import { projectPath, useMay, useProject } from '@/app/project';
import classes from './chat.module.css';

/** Whether plans are made without a model; unknown counts as no. */
export function useHasNoModel(): boolean {
  const project = useProject();
  const { data } = useQuery(modelsQuery(project.id));
  return data?.asked.every(({ models }) => models.length === 0) ?? false;
}

export function WithoutModel() {
  const project = useProject();
  const isWithout = useHasNoModel();
  const mayAdd = useMay('admin');
  if (!isWithout) return null;
  return (
    <div className={classes.note} role="note" aria-label={t`Without a model`}>
      <Info size={14} aria-hidden />
      <div>
        {t`No language model is set up. Simple questions, recipes and playbooks work without one. `}
        {mayAdd ? (
          <Anchor component={Link} to={projectPath(project.id, 'models')} inherit>
            {t`Add a model`}
          </Anchor>
        ) : (
          t`An admin of this project can add one.`
        )}
      </div>
    </div>
  );
}
