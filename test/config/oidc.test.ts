/** `oidc:` of a tenant, key by key, and `sign_in` of route tables. */

import t from 'tap'
import { BASE, configOf, faultsOf, Folder, SECRET } from './support.ts'

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
  const cases: [Record<string, unknown>, RegExp][] = [
    [{ issuer: undefined }, /issuer/],
    [{ client_id: undefined }, /client_id/],
    [{ redirect_uri: undefined }, /redirect_uri/],
    [{ client: 'x' }, /client/],
    [{ issuer: 'login.acme.example' }, /issuer: .* is not an https:/],
    [{ issuer: 'ftp://login.acme.example' }, /is not an https:/],
    [{ issuer: 'https://login.acme.example?x' }, /without a query and a fragment/],
    [{ issuer: 'https://login.acme.example?' }, /without a query and a fragment/],
    [{ issuer: 'https://login.acme.example#' }, /without a query and a fragment/],
    [{ issuer: 'https://user@login.acme.example' }, /is not an https:/],
    [{ issuer: 'https://:pw@login.acme.example' }, /is not an https:/],
    [{ issuer: ' https://login.acme.example' }, /issuer/],
    [{ issuer: '' }, /issuer/],
    [{ issuer: 'http://127.0.0.1:8080' }, /is not https: \(allow_insecure: true/],
    [
      { issuer: 'http://login.acme.example', allow_insecure: true },
      /uses http: on a host that is not a loopback address/,
    ],
    [
      { issuer: 'http://127.0.0.1.evil.example', allow_insecure: true },
      /uses http: on a host that is not a loopback address/,
    ],
    [{ issuer: 7 }, /issuer/],
    [{ allow_insecure: 'yes' }, /allow_insecure/],
    [{ client_id: '' }, /client_id: .* is empty/],
    [{ client_id: 'a\nb' }, /control character/],
    [{ client_secret: '' }, /client_secret: the value is empty/],
    [{ client_auth: 'private_key_jwt', client_secret: 's' }, /client_auth/],
    [{ client_auth: 'client_secret_post' }, /client_auth: .* requires a client_secret/],
    [{ client_auth: 'client_secret_basic' }, /requires a client_secret/],
    [{ scopes: ['email'] }, /scopes: must include openid/],
    [{ scopes: [] }, /scopes: must include openid/],
    [{ scopes: ['openid email'] }, /is not a scope/],
    [{ scopes: ['openid', 'a"b'] }, /is not a scope/],
    [{ scopes: ['openid', ''] }, /is not a scope/],
    [{ scopes: 'openid' }, /scopes/],
    [{ seats_claim: '' }, /seats_claim: .* is empty/],
    [{ redirect_uri: '/auth/oidc/callback' }, /redirect_uri/],
    [{ redirect_uri: 'http://gw.example/auth/oidc/callback' }, /is not https/],
    [{ redirect_uri: 'https://gw.example/' }, /does not end with/],
    [{ redirect_uri: 'https://gw.example/auth/oidc/callback/' }, /does not end with/],
    [{ redirect_uri: 'https://gw.example/x/auth/oidc/callback' }, /does not end with/],
    [{ redirect_uri: 'https://gw.example/auth/oidc/callback/globex' }, /does not end with/],
    [{ redirect_uri: 'https://gw.example/auth/oidc/callback?x' }, /does not end with/],
    [{ redirect_uri: 'https://gw.example/auth/oidc/callback?' }, /does not end with/],
    [
      { redirect_uri: 'https://gw.example/auth/oidc/../oidc/callback' },
      /is not in normal form: write https:.*oidc.callback, /,
    ],
    [
      { redirect_uri: 'https://GW.example:443/auth/oidc/callback' },
      /is not in normal form: write https:..gw.example.auth/,
    ],
    [{ redirect_uri: 'https://gw.example/auth/oidc/callback#x' }, /without a fragment/],
    [{ redirect_uri: 'https://u@gw.example/auth/oidc/callback' }, /redirect_uri/],
    [{ redirect_uri: 'https://:pw@gw.example/auth/oidc/callback' }, /redirect_uri/],
    [{ accept_provider_tokens: 1 }, /accept_provider_tokens/],
    [{ audience: 'x' }, /audience/],
    [{ accept_provider_tokens: true, audience: [''] }, /audience\[0\]: .* is empty/],
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
    ].map((host): [Record<string, unknown>, RegExp] => [
      { endpoint_hosts: [host] },
      /endpoint_hosts\[0\]: .* is not host or host:port/,
    ]),
    [{ endpoint_hosts: 'kc' }, /endpoint_hosts/],
    [{ post_logout_redirect: '/bye' }, /post_logout_redirect/],
    [{ post_logout_redirect: 'javascript:alert(1)' }, /post_logout_redirect/],
    [{ session_lifetime: '59s' }, /session_lifetime/],
    [{ session_lifetime: '91d' }, /session_lifetime/],
    [{ session_lifetime: 3600 }, /session_lifetime/],
    [{ origins: 'https://www.acme.example' }, /origins/],
    [{ origins: ['*'] }, /origins\[0\]: .* is not an origin/],
    [{ origins: ['null'] }, /is not an origin/],
    [{ origins: ['https://www.acme.example/'] }, /is not an origin/],
    [{ origins: ['https://WWW.acme.example'] }, /is not an origin/],
    [{ origins: ['https://www.acme.example:443'] }, /is not an origin/],
    [{ origins: ['http://www.acme.example'] }, /is not https/],
    [{ tenant_claim: 'org' }, /tenant_claim/],
    [{ tenant_claim: { name: 'org' } }, /value/],
    [{ tenant_claim: { name: '', value: 'acme' } }, /name: .* is empty/],
    [{ tenant_claim: { name: 'org', value: '' } }, /value: .* is empty/],
    [{ tenant_claim: { name: 'org', value: 7 } }, /value/],
    [{ tenant_claim: { name: 'org', value: 'acme', path: 'x' } }, /path/],
  ]
  for (const [settings, expected] of cases) {
    const faults = await faultsOf(t, textOf(settings))
    t.equal(faults.length, 1, `${JSON.stringify(settings)}: ${faults.join(' | ')}`)
    t.match(faults[0], expected, JSON.stringify(settings))
  }
})

t.test('an empty value, and one that is no map', async (t) => {
  for (const oidc of ['{}', '[]', 'https://login.acme.example', ''])
    t.ok(
      (await faultsOf(t, `tenants: { acme: { token: { secrets: ['${SECRET}'] }, oidc: ${oidc} } }\n`))
        .length > 0,
      oidc,
    )
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
  const faults = await faultsOf(t, text, { ACME_OIDC_SECRET: 'hush\u0007hush' })
  t.match(faults, [/^5:15: issuer: /, /^7:22: client_secret: the value /, /^8:21: redirect_uri: /])
  t.notMatch(faults.join('\n'), 'hush')
  t.match(await faultsOf(t, text), [/^5:15/, /^7:\d+: .*ACME_OIDC_SECRET/, /^8:21/], 'an unset variable')
})

t.test('sign_in of a route', async (t) => {
  const faults = async (routes: string, main = textOf({})) => {
    const upstreams = "upstreams: { main: { targets: ['http://127.0.0.1:9001'] } }\nroutes: [routes.yaml]\n"
    const files = {
      'gateway.config.yaml': main + upstreams,
      'routes.yaml': `upstream: main\nroutes:\n${routes}`,
    }
    const { config } = await new Folder(t, files).load()
    return { config, faults: await new Folder(t, files).faults() }
  }
  const good = await faults('  GET /a: { permission: authenticated, sign_in: acme }\n  GET /b: a:read\n')
  t.same(
    good.config?.routes.map(({ signIn }) => signIn),
    ['acme', null],
  )
  const cases: [string, RegExp][] = [
    [
      '  GET /a: { permission: a:read, sign_in: globex }\n',
      /^routes.yaml:3:\d+: sign_in: .* is not a tenant with oidc/,
    ],
    ['  GET /a: { permission: a:read, sign_in: acm }\n', /acme/],
    [
      '  GET /a: { permission: public, sign_in: acme }\n',
      /^routes.yaml:3:\d+: sign_in: not allowed on a public route/,
    ],
    ['  GET /a: { sign_in: acme }\n', /permission/],
    ['  GET /a: { permission: a:read, sign_in: [acme] }\n', /sign_in/],
    ["  GET /a: { permission: a:read, sign_in: '' }\n", /sign_in/],
  ]
  for (const [routes, expected] of cases) {
    const { faults: found } = await faults(routes)
    t.equal(found.length, 1, `${routes.trim()}: ${found.join(' | ')}`)
    t.match(found[0], expected, routes.trim())
  }
  const without = await faults(
    '  GET /a: { permission: a:read, sign_in: acme }\n',
    BASE.split('\n')[0] + '\n',
  )
  t.match(without.faults, [/is not a tenant with oidc/], 'a tenant without a provider')
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
  ] as const) {
    const faults = await faultsOf(t, text(globex, acme))
    t.equal(faults.length, 1, JSON.stringify([globex, acme]))
    t.match(faults[0], /^9:18: client_id: tenant acme has the same issuer and client_id.*tenant_claim/)
  }
  t.match(await faultsOf(t, text(claim('acme'), claim('acme'))), [/^11:21: tenant_claim: tenant acme/])
  const faulty = await faultsOf(t, text({ tenant_claim: { name: '', value: 'x' } }, claim('acme')))
  t.match(faulty, [/name: .* is empty/], 'an invalid one does not count as missing')
  t.equal(faulty.length, 1)
  for (const [globex, acme] of [
    [claim('globex'), claim('acme')],
    [claim('acme', 'dept'), claim('acme')],
    [{ client_id: 'other' }, {}],
    [{ issuer: 'https://login.acme.example/globex' }, {}],
  ] as const)
    t.same(await faultsOf(t, text(globex, acme)), [], JSON.stringify([globex, acme]))
})
