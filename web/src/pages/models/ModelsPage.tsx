/** Which models plan, carry out and explain; added, tested, chosen and removed here. */
import { t } from '@lingui/core/macro';
import { Button, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { BrainCircuit, Plus } from 'lucide-react';
import { useState } from 'react';
import { type Model, type ModelSetup, modelsQuery } from '@/api/models';
import { useProject } from '@/app/project';
import { EmptyState } from '@/components/EmptyState';
import { ErrorState } from '@/components/ErrorState';
import { LoadingLines } from '@/components/LoadingLines';
import { Page } from '@/components/Page';
import { Section } from '@/components/Section';
import { useDialog } from '@/components/use-search-param';
import { AskedFor } from './AskedFor';
import { ModelCard } from './ModelCard';
import { ModelDialog } from './ModelDialog';
import { OnThisMachine } from './OnThisMachine';

const TITLES = { project: t`This project`, organisation: t`The whole organisation` } as const;

export default function ModelsPage() {
  const project = useProject();
  const query = useQuery(modelsQuery(project.id));
  const dialog = useDialog('add');
  const [changed, setChanged] = useState<{ setup: ModelSetup; model: Model } | null>(null);
  if (query.isError) {
    return (
      <Page title={t`Models`}>
        <ErrorState error={query.error} retry={() => void query.refetch()} />
      </Page>
    );
  }
  const found = query.data;
  const own = found?.setups.find(({ may_change }) => may_change);
  const isNone = found?.asked.every(({ models }) => models.length === 0) ?? false;
  const close = () => {
    dialog.close();
    setChanged(null);
  };
  return (
    <Page
      title={t`Models`}
      width="narrow"
      description={t`Language models that plan, carry out and explain work. Simple questions, recipes and playbooks work without one.`}
      actions={
        own && (
          <Button leftSection={<Plus size={14} aria-hidden />} onClick={dialog.open}>
            {t`Add a model`}
          </Button>
        )
      }
    >
      {found === undefined ? (
        <LoadingLines />
      ) : (
        <>
          {isNone && (
            <EmptyState icon={BrainCircuit} picture="cards" title={t`No language model is set up`}>
              {t`Add one from a provider, or run one on this machine.`}
            </EmptyState>
          )}
          {!isNone && <AskedFor models={found} />}
          {found.settings.length > 0 && (
            <Section
              title={t`Settings of this installation`}
              description={t`They come from the settings file or the environment and win over what is set up here.`}
            >
              <Stack>
                {found.settings.map((model) => (
                  <ModelCard key={model.label} model={model} />
                ))}
              </Stack>
            </Section>
          )}
          {found.setups.map(
            (setup) =>
              setup.models.length > 0 && (
                <Section key={setup.level} title={TITLES[setup.level]}>
                  <Stack>
                    {setup.models.map((model) => (
                      <ModelCard
                        key={model.label}
                        model={model}
                        setup={setup}
                        onChange={() => setChanged({ setup, model })}
                      />
                    ))}
                  </Stack>
                </Section>
              ),
          )}
          {own && <OnThisMachine setup={own} />}
          <ModelDialog
            opened={own !== undefined && (dialog.opened || changed !== null)}
            providers={found.providers}
            setups={found.setups.filter(({ may_change }) => may_change)}
            changed={changed}
            onClose={close}
          />
        </>
      )}
    </Page>
  );
}
