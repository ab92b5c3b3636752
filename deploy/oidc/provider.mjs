// A provider of sign-ins as the npm package oidc-provider is by default: the identity token
// has no address, UserInfo does. make oidc signs in at it.
import Provider from 'oidc-provider';

const [port, callback] = process.argv.slice(2);
const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [{
    client_id: 'coach', client_secret: 's3cret', redirect_uris: [callback],
    post_logout_redirect_uris: [new URL('/console/login', callback).href],
  }],
  claims: { openid: ['sub'], email: ['email', 'email_verified'] },
  cookies: { keys: ['a key of a provider that lives for one test'] },
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({ sub: id, email: `${id}@example.org`, email_verified: !id.startsWith('unverified') }),
  }),
});
provider.listen(Number(port), '127.0.0.1', () => console.log('ready'));
