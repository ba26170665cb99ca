// A real authorization server with an API behind it: `node oidc_server.mjs <oidc-provider's folder> <callback>`.
// It knows one client, wants PKCE, gives each refresh token once, and knows codes for other devices.
import { createServer } from 'node:http';

const [, , library, callback] = process.argv;
const { Provider } = await import(`${library}/lib/index.js`);

const server = createServer((request, response) => answer(request, response));
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${server.address().port}\n`);
});
await new Promise((done) => server.on('listening', done));
const issuer = `http://127.0.0.1:${server.address().port}`;

const provider = new Provider(issuer, {
  clients: [
    {
      client_id: 'steward',
      client_secret: 's3cret-of-steward',
      redirect_uris: [callback],
      grant_types: [
        'authorization_code',
        'refresh_token',
        'urn:ietf:params:oauth:grant-type:device_code',
      ],
      response_types: ['code'],
      token_endpoint_auth_method: 'client_secret_basic',
    },
  ],
  scopes: ['openid', 'offline_access', 'pets'],
  pkce: { required: () => true },
  features: { devInteractions: { enabled: true }, deviceFlow: { enabled: true } },
  issueRefreshToken: async () => true,
  rotateRefreshToken: true,
  ttl: { AccessToken: 60, Session: 600, Grant: 600, RefreshToken: 600, Interaction: 600, DeviceCode: 600 },
  cookies: { keys: ['only for tests'] },
  findAccount: async (_context, id) => ({ accountId: id, claims: async () => ({ sub: id }) }),
});
const handle = provider.callback();

async function answer(request, response) {
  if (!request.url.startsWith('/api/')) return handle(request, response);
  const token = (request.headers.authorization ?? '').replace(/^Bearer /, '');
  const found = token ? await provider.AccessToken.find(token) : undefined;
  response.setHeader('Content-Type', 'application/json');
  response.statusCode = found ? 200 : 401;
  response.end(JSON.stringify(found ? { pets: ['Rex'], of: found.accountId } : { error: 'no token' }));
}
// Whoever started it holds the other end, so that it never outlives the tests.
process.stdin.resume().on('end', () => process.exit());
