/** Starts the web app. */
import { MantineProvider } from '@mantine/core';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';

const root = document.getElementById('root');
if (!root) throw new Error('index.html has no #root element');
createRoot(root).render(
  <StrictMode>
    <MantineProvider defaultColorScheme="auto">
      <main>Steward</main>
    </MantineProvider>
  </StrictMode>,
);
