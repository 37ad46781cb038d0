/** `issuers:` of a tenant: values, and each fault with its place. */

import t from 'tap'
import { BASE, configOf, faultsAt, Folder, SECRET } from './support.ts'

type Members = Readonly<Record<string, unknown>>

const MINIMUM: Members = { issuer: 'https://ci.example', audience: 'https://gw.example', seats: ['Deployer'] }

/** Entries begin in lines of their own, from line 4 on. @param more undefined removes a setting */
function textOf(
  acme: readonly Members[],
  globex: readonly Members[] | null = null,
  oidc: Members = {},
): string {
  const list = (entries: readonly Members[]) =>
    entries.map((each) => `      - ${JSON.stringify({ ...MINIMUM, ...each })}\n`).join('')
  const provider = Object.keys(oidc).length === 0 ? '' : `    oidc: ${JSON.stringify(oidc)}\n`
  const other =
    globex === null ? '' : `  globex:\n    token: { secrets: ['${SECRET}-2'] }\n    issuers:\n${list(globex)}`
  return `tenants:\n  acme:\n    token: { secrets: ['${SECRET}'] }\n    issuers:\n${list(acme)}${provider}${other}`
}

t.test('omitted settings', async (t) => {
  const { tenants } = await configOf(t, textOf([{}]))
  t.same(tenants.get('acme')?.issuers, [
    {
      issuer: 'https://ci.example',
      audience: 'https://gw.example',
      jwksUri: null,
      algorithms: ['RS256', 'ES256', 'EdDSA'],
      seats: ['Deployer'],
      seatsClaim: null,
      match: [],
      userClaim: 'sub',
      maxLifetime: 3_600_000,
      allowInsecure: false,
    },
  ])
  t.same((await configOf(t, BASE)).tenants.get('acme')?.issuers, [])
})

t.test('valid settings', async (t) => {
  const loopback = {
    issuer: 'http://127.0.0.1:8080',
    jwks_uri: 'http://[::1]/keys?a=b',
    allow_insecure: true,
  }
  const cases: [Members, Members][] = [
    [loopback, { issuer: 'http://127.0.0.1:8080', jwksUri: 'http://[::1]/keys?a=b' }],
    [{ algorithms: ['PS512', 'Ed25519'] }, { algorithms: ['PS512', 'Ed25519'] }],
    [
      { seats: undefined, seats_claim: 'a.b' },
      { seats: null, seatsClaim: 'a.b' },
    ],
    [
      { match: { 'kubernetes.io.namespace': 'ci', email_verified: true } },
      {
        match: [
          { name: 'kubernetes.io.namespace', value: 'ci' },
          { name: 'email_verified', value: true },
        ],
      },
    ],
    [
      { user_claim: 'repository', max_lifetime: '5m' },
      { userClaim: 'repository', maxLifetime: 300_000 },
    ],
  ]
  for (const [written, expected] of cases)
    t.match((await configOf(t, textOf([written]))).tenants.get('acme')?.issuers?.[0], expected)
})

t.test('faults', async (t) => {
  const cases: [Members, string][] = [
    [{ issuer: undefined }, '5:9'],
    [{ audience: undefined }, '5:9'],
    [{ issuer: 'http://ci.example' }, '5:19'],
    [{ issuer: 'http://ci.example', allow_insecure: true }, '5:19'],
    [{ issuer: 'https://ci.example?a' }, '5:19'],
    [{ issuer: 'https://ci.example/a|b' }, '5:19'],
    [{ audience: '' }, '5:51'],
    [{ seats: undefined }, '5:19'],
    [{ seats_claim: 'groups' }, '5:107'],
    [{ seats: [] }, '5:80'],
    [{ jwks_uri: 'http://ci.example/keys' }, '5:104'],
    [{ jwks_uri: 'http://ci.example/keys', allow_insecure: true }, '5:104'],
    [{ jwks_uri: 'https://ci.example/keys#a' }, '5:104'],
    [{ algorithms: ['HS256'] }, '5:107'],
    [{ algorithms: ['none'] }, '5:107'],
    [{ algorithms: [] }, '5:106'],
    [{ match: {} }, '5:101'],
    [{ match: { repository_id: 5 } }, '5:118'],
    [{ match: { groups: ['a'] } }, '5:111'],
    [{ max_lifetime: '0s' }, '5:108'],
    [{ secret: 'x' }, '5:93'],
  ]
  for (const [written, places] of cases) await faultsAt(t, textOf([written]), places)
})

t.test('an entry that takes every token of an issuer', async (t) => {
  const warnings = (entry: Members) => new Folder(t, { 'gateway.config.yaml': textOf([entry]) })
  await warnings({}).warningsAt(t, ['issuer_unmatched 5:19'])
  await warnings({ match: { org: 'acme' } }).warningsAt(t, [])
  await warnings({ seats: undefined, seats_claim: 'roles' }).warningsAt(t, [])
})

t.test('entries with one issuer and audience need a match that tells them apart', async (t) => {
  const org = (value: string, more: Members = {}) => ({ match: { org: value, ...more } })
  t.ok(await configOf(t, textOf([org('a')], [org('b')])))
  t.ok(await configOf(t, textOf([{}], [{ audience: 'other' }])))
  t.ok(await configOf(t, textOf([{}], [{ issuer: 'https://other.example' }])))
  t.ok(await configOf(t, textOf([org('a', { ref: 'x' }), org('a', { ref: 'y' })])))
  await faultsAt(t, textOf([{}], [{}]), '9:51')
  await faultsAt(t, textOf([org('a')], [{}]), '9:51')
  await faultsAt(t, textOf([{}], [org('a')]), '9:101')
  await faultsAt(t, textOf([org('a')], [org('a')]), '9:101')
  await faultsAt(t, textOf([org('a')], [{ match: { other: 'b' } }]), '9:101')
  await faultsAt(t, textOf([org('a'), org('a', { ref: 'x' })]), '6:101')
})

t.test('tokens that accept_provider_tokens accepts', async (t) => {
  const oidc = (more: Members) => ({
    issuer: 'https://ci.example',
    client_id: 'seatgate',
    redirect_uri: 'https://gw.example/auth/oidc/callback',
    ...more,
  })
  t.ok(await configOf(t, textOf([{}], null, oidc({ accept_provider_tokens: true }))))
  t.ok(await configOf(t, textOf([{ audience: 'seatgate' }], null, oidc({}))))
  const accepting = oidc({ accept_provider_tokens: true, audience: ['https://gw.example'] })
  await faultsAt(t, textOf([{}], null, accepting), '5:51')
  await faultsAt(t, textOf([{ audience: 'other' }], [{ audience: 'seatgate' }], accepting), '10:51')
})
