/** Starts the web app. */
import './app/styles';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { whenSignedOut } from './api/client';
import { App } from './app/App';
import { keepFocus } from './app/keep-focus';
import { createQueryClient } from './app/query-client';
import { registry } from './app/registry';
import { buildRouter } from './app/router';
import { goToSignIn, reloadOnceAfterUpgrade } from './app/leaving';

const queryClient = createQueryClient();
const router = buildRouter(registry, queryClient);
whenSignedOut(goToSignIn);
reloadOnceAfterUpgrade();
keepFocus();

const root = document.getElementById('root');
if (!root) throw new Error('index.html has no #root element');
createRoot(root).render(
  <StrictMode>
    <App router={router} queryClient={queryClient} />
  </StrictMode>,
);
