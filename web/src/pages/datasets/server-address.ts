/** Addresses of database servers, and the password that belongs into them but not onto the screen. */

interface Parts {
  scheme: string;
  user: string;
  /** As it is written in the address. */
  password: string | null;
  rest: string;
}

/** Taken apart by hand: the browser's URL refuses addresses of sockets, and would rewrite others. */
function partsOf(address: string): Parts | null {
  const [, scheme, authority, path] = /^([a-z]+:\/\/)([^/?#]*)(.*)$/is.exec(address.trim()) ?? [];
  if (scheme === undefined || authority === undefined || path === undefined) return null;
  const at = authority.lastIndexOf('@');
  const [user = '', ...password] = authority.slice(0, Math.max(at, 0)).split(':');
  const written = password.length > 0 ? password.join(':') : null;
  return { scheme, user, password: written, rest: authority.slice(at + 1) + path };
}

/** The address with the password in it; what is no address goes as it is, and the server says why not. */
export function withPassword(address: string, password: string): string {
  const parts = partsOf(address);
  if (password === '' || parts === null) return address.trim();
  return `${parts.scheme}${parts.user}:${encodeURIComponent(password)}@${parts.rest}`;
}

/** Takes a password that was pasted along out of an address. */
export function splitPassword(address: string): { address: string; password: string } {
  const parts = partsOf(address);
  if (!parts?.password) return { address, password: '' };
  const { scheme, user, password, rest } = parts;
  return { address: `${scheme}${user}@${rest}`, password: decoded(password) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** `sales.orders` is proposed as orders: the schema is where it lies, not what it is. */
export function tableDataset(table: string): string {
  const name = table.slice(table.indexOf('.') + 1) || table;
  // eslint-disable-next-line no-control-regex
  return name.replaceAll(/[\u0000-\u001f\u007f/\\]/g, '_').trim() || 'data';
}
