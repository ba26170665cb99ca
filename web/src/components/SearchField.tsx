/** Words to search for; told when the person pauses typing. */
import { TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { Search } from 'lucide-react';
import { useState } from 'react';

const PAUSE = 250;

interface Props {
  label: string;
  placeholder: string;
  /** What is searched for when the page opens. */
  text?: string;
  onSearch: (text: string) => void;
}

export function SearchField({ label, placeholder, text = '', onSearch }: Props) {
  const [typed, setTyped] = useState(text);
  const search = useDebouncedCallback(onSearch, PAUSE);
  return (
    <TextInput
      aria-label={label}
      placeholder={placeholder}
      leftSection={<Search size={14} aria-hidden />}
      w="16rem"
      value={typed}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value);
        search(currentTarget.value.trim());
      }}
    />
  );
}
