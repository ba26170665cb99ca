/** Loading a table of a database server: where it is, what is there, and what was found in it. */
import { t } from '@lingui/core/macro';
import { Button, Stack } from '@mantine/core';
import { Outcome } from './Outcome';
import { Review } from './Review';
import { ServerForm } from './ServerForm';
import { tableDataset } from './server-address';
import { TableList } from './TableList';
import { type ServerLoad, useServerLoad } from './use-server-load';

interface Props {
  projectId: string;
  taken: string[];
  /** Back to choosing files. */
  onLeave: () => void;
}

export function ServerLoader({ projectId, taken, onLeave }: Props) {
  const load = useServerLoad(projectId);
  const { inspection, result } = load;
  if (result) {
    const more = (
      <Button variant="default" onClick={load.again}>
        {t`Load another table`}
      </Button>
    );
    return <Outcome projectId={projectId} result={result} further={more} />;
  }
  // Hidden rather than gone, so that a wrong address can be corrected; a new dialog starts empty.
  return (
    <>
      <div hidden={inspection !== null}>
        <ServerForm
          projectId={projectId}
          isBusy={load.stage === 'inspecting'}
          error={inspection ? null : load.error}
          onConnect={load.connect}
          onLeave={onLeave}
        />
      </div>
      {inspection && <Tables load={load} inspection={inspection} taken={taken} />}
    </>
  );
}

interface TablesProps {
  load: ServerLoad;
  inspection: NonNullable<ServerLoad['inspection']>;
  taken: string[];
}

function Tables({ load, inspection, taken }: TablesProps) {
  const { tables } = inspection;
  // A server without tables is a refusal, so there is always one that was looked at.
  const table = inspection.table ?? '';
  return (
    <Stack>
      <TableList
        tables={tables}
        chosen={table}
        disabled={load.stage !== 'ready'}
        onChoose={load.choose}
      />
      <Review
        key={table}
        load={load}
        inspection={inspection}
        proposed={tableDataset(table)}
        taken={taken}
        leaving={t`Another server`}
        onLeave={load.disconnect}
      />
    </Stack>
  );
}
