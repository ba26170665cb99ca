// A certified OpenID provider: `node openid_provider.mjs <oidc-provider's folder>`. It prints its issuer, then reads one
// JSON document per line: {"clients": [...]} once the redirect addresses are known; {"groups": {...}} per account.
// It answers each line with a line.
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';

const [, , library] = process.argv;
const { Provider } = await import(`${library}/lib/index.js`);
const groups = {};
let handle;

const server = createServer((request, response) => handle(request, response));
await new Promise((done) => server.listen(0, '127.0.0.1', done));
const issuer = `http://127.0.0.1:${server.address().port}`;

function open(clients) {
  const provider = new Provider(issuer, {
    clients,
    pkce: { required: () => true },
    // Its own would refuse this machine as an address, and give up after 2.5 seconds.
    fetch: (url, { dispatcher, signal, ...options }) => fetch(url, options),
    scopes: ['openid', 'profile', 'email', 'groups'],
    claims: {
      openid: ['sub'],
      profile: ['name'],
      email: ['email', 'email_verified'],
      groups: ['groups'],
    },
    features: { devInteractions: { enabled: true }, backchannelLogout: { enabled: true } },
    ttl: { AccessToken: 60, IdToken: 60, Session: 600, Grant: 600, Interaction: 600 },
    cookies: { keys: ['only for tests'] },
    findAccount: async (_context, id) => ({
      accountId: id,
      claims: async () => ({
        sub: id,
        name: id[0].toUpperCase() + id.slice(1),
        email: `${id}@acme.example`,
        email_verified: true,
        groups: groups[id] ?? [],
      }),
    }),
  });
  handle = provider.callback();
}

process.stdout.write(`${issuer}\n`);
for await (const line of createInterface({ input: process.stdin })) {
  const said = JSON.parse(line);
  if (said.clients) open(said.clients);
  if (said.groups) Object.assign(groups, said.groups);
  process.stdout.write('done\n');
}
process.exit(0);
