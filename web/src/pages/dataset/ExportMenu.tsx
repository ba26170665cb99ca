/** Downloads of the dataset. */
import { Button, Menu } from '@mantine/core';
import { ChevronDown, Download } from 'lucide-react';
import { EXPORT_FORMATS, exportAddress } from '@/api/datasets';

export function ExportMenu({ projectId, dataset }: { projectId: string; dataset: string }) {
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button
          variant="default"
          leftSection={<Download size={14} aria-hidden />}
          rightSection={<ChevronDown size={14} aria-hidden />}
        >
          Export
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {EXPORT_FORMATS.map(({ value, label }) => (
          <Menu.Item
            key={value}
            component="a"
            href={exportAddress(projectId, dataset, value)}
            download
          >
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
