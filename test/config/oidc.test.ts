/** `oidc:` of a tenant, key by key, and `sign_in` of route tables. */

import t from 'tap'
import { BASE, configOf, faultsAt, Folder, SECRET } from './support.ts'

const MINIMUM: Readonly<Record<string, unknown>> = {
  issuer: 'https://login.acme.example',
  client_id: 'seatgate',
  redirect_uri: 'https://gw.example/auth/oidc/callback',
}

/** @param more further settings; undefined removes a required one */
function textOf(more: Readonly<Record<string, unknown>>): string {
  const oidc = JSON.stringify({ ...MINIMUM, ...more })
  return `tenants: { acme: { token: { secrets: ['${SECRET}'] }, oidc: ${oidc} } }\n`
}

t.test('omitted settings', async (t) => {
  const { tenants } = await configOf(t, textOf({}))
  t.same(tenants.get('acme')?.oidc, {
    issuer: 'https://login.acme.example',
    clientId: 'seatgate',
    clientSecret: null,
    clientAuth: null,
    clientKey: null,
    decryptionKeys: [],
    idTokenSigningAlg: null,
    scopes: ['openid', 'email', 'profile', 'offline_access'],
    seatsClaim: 'memberOf',
    redirectUri: 'https://gw.example/auth/oidc/callback',
    allowInsecure: false,
    endpointHosts: [],
    acceptProviderTokens: false,
    audience: [],
    postLogoutRedirect: null,
    sessionLifetime: 8 * 3_600_000,
    origins: [],
    tenantClaim: null,
    revocation: false,
    events: null,
  })
  t.equal((await configOf(t, BASE)).tenants.get('acme')?.oidc, null, 'all settings')
})

t.test('valid settings', async (t) => {
  const cases: [Record<string, unknown>, Record<string, unknown>][] = [
    [{ issuer: 'https://login.example/realms/acme' }, { issuer: 'https://login.example/realms/acme' }],
    [{ issuer: 'https://login.example/' }, { issuer: 'https://login.example/' }],
    [{ issuer: 'http://127.0.0.1:8080', allow_insecure: true }, { issuer: 'http://127.0.0.1:8080' }],
    [{ issuer: 'http://[::1]:8080', allow_insecure: true }, { allowInsecure: true }],
    [{ issuer: 'http://localhost', allow_insecure: true }, { allowInsecure: true }],
    [{ client_secret: 's' }, { clientSecret: 's', clientAuth: null }],
    [{ client_secret: 's', client_auth: 'client_secret_post' }, { clientAuth: 'client_secret_post' }],
    [{ client_secret: 's', client_auth: 'client_secret_basic' }, { clientAuth: 'client_secret_basic' }],
    [{ client_auth: 'none' }, { clientAuth: 'none' }],
    [{ scopes: ['openid', 'api://x/.default'] }, { scopes: ['openid', 'api://x/.default'] }],
    [{ seats_claim: 'realm_access.roles' }, { seatsClaim: 'realm_access.roles' }],
    [{ seats_claim: 'https://acme.example/roles' }, { seatsClaim: 'https://acme.example/roles' }],
    [
      { redirect_uri: 'https://gw.example/auth/oidc/callback/acme' },
      { redirectUri: 'https://gw.example/auth/oidc/callback/acme' },
    ],
    [
      { redirect_uri: 'http://localhost:8080/auth/oidc/callback' },
      { redirectUri: 'http://localhost:8080/auth/oidc/callback' },
    ],
    [{ accept_provider_tokens: true, audience: ['api://x', 'y'] }, { audience: ['api://x', 'y'] }],
    [{ accept_provider_tokens: true }, { acceptProviderTokens: true, audience: [] }],
    [
      { post_logout_redirect: 'https://acme.example/bye?x=1' },
      { postLogoutRedirect: 'https://acme.example/bye?x=1' },
    ],
    [
      { endpoint_hosts: ['kc.internal:8443', 'KC', '10.0.0.1', '[fd00::1]:8443', 'kc:443'] },
      { endpointHosts: ['kc.internal:8443', 'kc:443', '10.0.0.1:443', '[fd00::1]:8443', 'kc:443'] },
    ],
    [{ revocation: true }, { revocation: true }],
    [
      { events: { audience: 'https://gw.example' } },
      { events: { audience: 'https://gw.example', issuer: null, jwksUri: null, authorization: null } },
    ],
    [
      {
        events: {
          audience: 'x',
          issuer: 'http://127.0.0.1:8080/a',
          jwks_uri: 'http://127.0.0.1:8080/keys?x',
          authorization: 'Bearer 0123456789',
        },
        allow_insecure: true,
      },
      {
        events: {
          issuer: 'http://127.0.0.1:8080/a',
          jwksUri: 'http://127.0.0.1:8080/keys?x',
          authorization: 'Bearer 0123456789',
        },
      },
    ],
    [{ session_lifetime: '90d' }, { sessionLifetime: 90 * 24 * 3_600_000 }],
    [{ session_lifetime: '1m' }, { sessionLifetime: 60_000 }],
    [
      { origins: ['https://www.acme.example', 'http://localhost:3000'] },
      { origins: ['https://www.acme.example', 'http://localhost:3000'] },
    ],
    [{ tenant_claim: { name: 'org.id', value: 'acme' } }, { tenantClaim: { name: 'org.id', value: 'acme' } }],
  ]
  for (const [settings, expected] of cases) {
    const { tenants } = await configOf(t, textOf(settings))
    t.match(tenants.get('acme')?.oidc, expected, JSON.stringify(settings))
  }
})

t.test('invalid settings', async (t) => {
  const cases: [Record<string, unknown>, string][] = [
    [{ issuer: undefined }, '1:82'],
    [{ client_id: undefined }, '1:82'],
    [{ redirect_uri: undefined }, '1:82'],
    [{ client: 'x' }, '1:205'],
    [{ issuer: 'login.acme.example' }, '1:98'],
    [{ issuer: 'ftp://login.acme.example' }, '1:98'],
    [{ issuer: 'https://login.acme.example?x' }, '1:98'],
    [{ issuer: 'https://login.acme.example?' }, '1:98'],
    [{ issuer: 'https://login.acme.example#' }, '1:98'],
    [{ issuer: 'https://user@login.acme.example' }, '1:98'],
    [{ issuer: 'https://:pw@login.acme.example' }, '1:98'],
    [{ issuer: ' https://login.acme.example' }, '1:98'],
    [{ issuer: '' }, '1:98'],
    [{ issuer: 'http://127.0.0.1:8080' }, '1:98'],
    [{ issuer: 'http://login.acme.example', allow_insecure: true }, '1:98'],
    [{ issuer: 'http://127.0.0.1.evil.example', allow_insecure: true }, '1:98'],
    [{ issuer: 7 }, '1:98'],
    [{ allow_insecure: 'yes' }, '1:222'],
    [{ client_id: '' }, '1:139'],
    [{ client_id: 'a\nb' }, '1:139'],
    [{ client_secret: '' }, '1:221'],
    [{ client_auth: 'private_key_jwt', client_secret: 's' }, '1:219'],
    [{ client_auth: 'client_secret_post' }, '1:219'],
    [{ client_auth: 'client_secret_basic' }, '1:219'],
    [{ scopes: ['email'] }, '1:214'],
    [{ scopes: [] }, '1:214'],
    [{ scopes: ['openid email'] }, '1:215'],
    [{ scopes: ['openid', 'a"b'] }, '1:224'],
    [{ scopes: ['openid', ''] }, '1:224'],
    [{ scopes: 'openid' }, '1:214'],
    [{ seats_claim: '' }, '1:219'],
    [{ redirect_uri: '/auth/oidc/callback' }, '1:165'],
    [{ redirect_uri: 'http://gw.example/auth/oidc/callback' }, '1:165'],
    [{ redirect_uri: 'https://gw.example/' }, '1:165'],
    [{ redirect_uri: 'https://gw.example/auth/oidc/callback/' }, '1:165'],
    [{ redirect_uri: 'https://gw.example/x/auth/oidc/callback' }, '1:165'],
    [{ redirect_uri: 'https://gw.example/auth/oidc/callback/globex' }, '1:165'],
    [{ redirect_uri: 'https://gw.example/auth/oidc/callback?x' }, '1:165'],
    [{ redirect_uri: 'https://gw.example/auth/oidc/callback?' }, '1:165'],
    [{ redirect_uri: 'https://gw.example/auth/oidc/../oidc/callback' }, '1:165'],
    [{ redirect_uri: 'https://GW.example:443/auth/oidc/callback' }, '1:165'],
    [{ redirect_uri: 'https://gw.example/auth/oidc/callback#x' }, '1:165'],
    [{ redirect_uri: 'https://u@gw.example/auth/oidc/callback' }, '1:165'],
    [{ redirect_uri: 'https://:pw@gw.example/auth/oidc/callback' }, '1:165'],
    [{ accept_provider_tokens: 1 }, '1:230'],
    [{ audience: 'x' }, '1:216'],
    [{ accept_provider_tokens: true, audience: [''] }, '1:247'],
    ...[
      '',
      'https://kc',
      'kc/x',
      'kc:0',
      'kc:65536',
      'kc:',
      'u@kc',
      'kc?',
      'fd00::1',
      '*.kc',
      'k c',
      '10.1',
    ].map((host): [Record<string, unknown>, string] => [{ endpoint_hosts: [host] }, '1:223']),
    [{ endpoint_hosts: 'kc' }, '1:222'],
    [{ revocation: 'yes' }, '1:218'],
    [{ events: true }, '1:214'],
    [{ events: {} }, '1:205'],
    [{ events: { audience: '' } }, '1:226'],
    [{ events: { audience: 'x', issuer: 'ssf.acme.example' } }, '1:239'],
    [{ events: { audience: 'x', issuer: 'https://ssf.acme.example?x' } }, '1:239'],
    [{ events: { audience: 'x', issuer: 'http://ssf.acme.example' }, allow_insecure: true }, '1:239'],
    [{ events: { audience: 'x', issuer: 'http://127.0.0.1:8080' } }, '1:239'],
    [{ events: { audience: 'x', jwks_uri: 'http://127.0.0.1:8080' } }, '1:241'],
    [{ events: { audience: 'x', jwks_uri: 'https://a.example#b' } }, '1:241'],
    [{ events: { audience: 'x', authorization: 'short' } }, '1:246'],
    [{ events: { audience: 'x', authorization: ' 0123456789abcdef' } }, '1:246'],
    [{ events: { audience: 'x', authorization: '0123456789\nabcdef' } }, '1:246'],
    [{ post_logout_redirect: '/bye' }, '1:228'],
    [{ post_logout_redirect: 'javascript:alert(1)' }, '1:228'],
    [{ session_lifetime: '59s' }, '1:224'],
    [{ session_lifetime: '91d' }, '1:224'],
    [{ session_lifetime: 3600 }, '1:224'],
    [{ origins: 'https://www.acme.example' }, '1:215'],
    [{ origins: ['*'] }, '1:216'],
    [{ origins: ['null'] }, '1:216'],
    [{ origins: ['https://www.acme.example/'] }, '1:216'],
    [{ origins: ['https://WWW.acme.example'] }, '1:216'],
    [{ origins: ['https://www.acme.example:443'] }, '1:216'],
    [{ origins: ['http://www.acme.example'] }, '1:216'],
    [{ tenant_claim: 'org' }, '1:220'],
    [{ tenant_claim: { name: 'org' } }, '1:205'],
    [{ tenant_claim: { name: '', value: 'acme' } }, '1:228'],
    [{ tenant_claim: { name: 'org', value: '' } }, '1:242'],
    [{ tenant_claim: { name: 'org', value: 7 } }, '1:242'],
    [{ tenant_claim: { name: 'org', value: 'acme', path: 'x' } }, '1:249'],
  ]
  for (const [settings, expected] of cases) {
    await faultsAt(t, textOf(settings), expected)
  }
})

t.test('an empty value, and one that is no map', async (t) => {
  for (const [oidc, places] of [
    ['{}', '1:82 1:82 1:82'],
    ['[]', '1:88'],
    ['https://login.acme.example', '1:88'],
    ['', '1:89'],
  ] as const)
    await faultsAt(t, `tenants: { acme: { token: { secrets: ['${SECRET}'] }, oidc: ${oidc} } }\n`, places)
})

t.test('errors have a position, and contain no secret', async (t) => {
  const text = `tenants:
  acme:
    token: { secrets: ['${SECRET}'] }
    oidc:
      issuer: http://login.acme.example
      client_id: seatgate
      client_secret: \${ACME_OIDC_SECRET}
      redirect_uri: https://gw.example/callback
`
  const faults = await faultsAt(t, text, '5:15 7:22 8:21', { ACME_OIDC_SECRET: 'hush\u0007hush' })
  t.notMatch(faults, 'hush')
  await faultsAt(t, text, '5:15 7:22 8:21')
})

t.test('sign_in of a route', async (t) => {
  const folder = (routes: string, main = textOf({})) =>
    new Folder(t, {
      'gateway.config.yaml': `${main}upstreams: { main: { targets: ['http://127.0.0.1:9001'] } }\nroutes: [routes.yaml]\n`,
      'routes.yaml': `upstream: main\nroutes:\n  ${routes}`,
    })
  const good = folder('GET /a: { permission: authenticated, sign_in: acme }\n  GET /b: a:read\n')
  t.same(
    (await good.load()).config?.routes.map(({ signIn }) => signIn),
    ['acme', null],
  )
  const cases: [string, string][] = [
    ['{ permission: a:read, sign_in: globex }', 'routes.yaml:3:42'],
    ['{ permission: a:read, sign_in: acm }', 'routes.yaml:3:42'],
    ['{ permission: public, sign_in: acme }', 'routes.yaml:3:33'],
    ['{ sign_in: acme }', 'routes.yaml:3:3'],
    ['{ permission: a:read, sign_in: [acme] }', 'routes.yaml:3:42'],
    ["{ permission: a:read, sign_in: '' }", 'routes.yaml:3:42'],
  ]
  for (const [route, places] of cases) await folder(`GET /a: ${route}\n`).faultsAt(t, places)
  const without = folder('GET /a: { permission: a:read, sign_in: acme }\n', BASE.split('\n')[0] + '\n')
  await without.faultsAt(t, 'routes.yaml:3:42')
})

t.test('tenants with a callback of their own, and with a shared one', async (t) => {
  const tenant = (id: string, redirect: string) =>
    `  ${id}: { token: { secrets: ['${id} ${SECRET}'] }, oidc: ${JSON.stringify({ ...MINIMUM, client_id: id, redirect_uri: redirect })} }\n`
  const shared = 'https://gw.example/auth/oidc/callback'
  const { tenants } = await configOf(
    t,
    `tenants:\n${tenant('acme', `${shared}/acme`)}${tenant('globex', `${shared}/globex`)}${tenant('initech', shared)}`,
  )
  t.same(
    [...tenants.values()].map(({ oidc }) => oidc?.redirectUri),
    [`${shared}/acme`, `${shared}/globex`, shared],
  )
})

t.test('two tenants that share one client of one provider', async (t) => {
  const text = (globex: Record<string, unknown>, acme: Record<string, unknown> = {}) => `tenants:
  acme:
    token: { secrets: ['acme ${SECRET}'] }
    oidc: ${JSON.stringify({ ...MINIMUM, ...acme })}
  globex:
    token: { secrets: ['globex ${SECRET}'] }
    oidc:
${Object.entries({ ...MINIMUM, ...globex })
  .map(([name, value]) => `      ${name}: ${JSON.stringify(value)}\n`)
  .join('')}`
  const claim = (value: string, name = 'org') => ({ tenant_claim: { name, value } })
  for (const [globex, acme] of [
    [{}, {}],
    [claim('globex'), {}],
    [{}, claim('acme')],
    [{ issuer: 'https://login.acme.example/' }, {}],
    [{ issuer: 'https://LOGIN.acme.example:443' }, {}],
    [{ redirect_uri: 'https://gw.example/auth/oidc/callback/globex' }, {}],
  ] as const)
    await faultsAt(t, text(globex, acme), '9:18')
  await faultsAt(t, text(claim('acme'), claim('acme')), '11:21')
  // An invalid one does not count as missing.
  await faultsAt(t, text({ tenant_claim: { name: '', value: 'x' } }, claim('acme')), '11:29')
  for (const [globex, acme] of [
    [claim('globex'), claim('acme')],
    [claim('acme', 'dept'), claim('acme')],
    [{ client_id: 'other' }, {}],
    [{ issuer: 'https://login.acme.example/globex' }, {}],
  ] as const)
    await faultsAt(t, text(globex, acme), '')
})
