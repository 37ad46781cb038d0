/** The keys of an issuer: rotation, keys taken back, floods of unknown keys, outages. Time passes by a clock of the test. */

import type { Test } from 'tap'
import t from 'tap'
import type { IssuerConfig } from '../../../src/config/config.ts'
import { Refusal } from '../../../src/model/errors.ts'
import { Issuers } from '../../../src/oidc/issuers/issuers.ts'
import { KEY_TIMES, REVERIFY } from '../../../src/oidc/issuers/token-issuer.ts'
import { inspectIssuer } from '../../../src/oidc/provider/inspect-provider.ts'
import { HostileProvider } from '../hostile-provider.ts'

const DISCOVERY = '/.well-known/openid-configuration'
const PATIENT = { connect: 30_000, total: 30_000 }

async function start(t: Test, more: (issuer: string) => Partial<IssuerConfig> = () => ({})) {
  const provider = await HostileProvider.start(t)
  provider.metadata = { authorization_endpoint: undefined, token_endpoint: undefined }
  const config: IssuerConfig = {
    issuer: provider.issuer,
    audience: 'seatgate',
    jwksUri: null,
    algorithms: ['ES256'],
    seats: null,
    seatsClaim: 'memberOf',
    match: [],
    userClaim: 'sub',
    maxLifetime: 3_600_000,
    allowInsecure: true,
    ...more(provider.issuer),
  }
  const lines: Record<string, unknown>[] = []
  const write = (fields: Readonly<Record<string, unknown>>) => void lines.push({ ...fields })
  const time = { ms: 0 }
  const options = {
    log: { info: write, warn: write, error: write },
    now: Date.now,
    limits: PATIENT,
    // Two moments are never the same.
    clock: () => (time.ms += 0.001),
  }
  const openIssuers = (tenants: Record<string, IssuerConfig[]>) => {
    const listed = Object.entries(tenants).map(([id, issuers]) => ({ id, issuers }))
    const issuers = new Issuers(listed, options)
    t.teardown(() => issuers.close())
    return issuers
  }
  const open = (tenants: Record<string, IssuerConfig[]>) => {
    const issuers = openIssuers(tenants)
    return async (token: string) => {
      const verified = await issuers.verify(token, 'r-1')
      if (verified === null || verified instanceof Refusal) return verified?.code ?? null
      return { ...verified.principal, ...verified.principal.claims }
    }
  }
  const sign = (claims = {}, header = {}) => provider.sign(provider.claims(claims), header)
  return { provider, config, lines, time, open, openIssuers, sign, verify: open({ acme: [config] }) }
}

t.test('a key taken back ends within a minute', async (t) => {
  t.ok(KEY_TIMES.stale + REVERIFY < 60_000, 'the age of keys, and the time until a token is verified again')
  const { provider, time, sign, verify } = await start(t)
  const token = await sign()
  t.match(await verify(token), { user: `${provider.issuer}|alice`, names: ['Viewer'], tenant: 'acme' })
  provider.keys.length = 0
  await provider.newKey('second')
  t.match(await verify(token), { tenant: 'acme' }, 'the keys are fresh')
  time.ms += KEY_TIMES.stale
  t.equal(await verify(token), 'token_invalid')
  t.match(await verify(await sign()), { tenant: 'acme' })
})

t.test('a new key counts at once, also under the old name', async (t) => {
  const { provider, sign, verify } = await start(t)
  t.match(await verify(await sign()), { tenant: 'acme' })
  await provider.newKey('second')
  t.match(await verify(await sign()), { tenant: 'acme' })
  provider.keys.length = 0
  await provider.newKey('second')
  t.match(await verify(await sign()), { tenant: 'acme' })
  t.equal(provider.count('/jwks'), 3)
})

t.test(
  'a flood of unknown keys reads them at a bounded rate, for all entries of the issuer together',
  async (t) => {
    const { provider, config, time, open, sign } = await start(t)
    const entry = (audience: string) => ({ ...config, audience })
    const verify = open({ acme: [entry('a'), entry('b')], globex: [entry('c')] })
    t.match(await verify(await sign({ aud: 'c' })), { tenant: 'globex' })
    const flood = async () => {
      const tokens = ['a', 'b', 'c'].flatMap((aud) =>
        Array.from({ length: 40 }, (_, index) => sign({ aud }, { kid: `unknown ${aud} ${index}` })),
      )
      return new Set(await Promise.all((await Promise.all(tokens)).map(verify)))
    }
    t.same(await flood(), new Set(['token_invalid']))
    t.equal(provider.count('/jwks'), 2)
    t.same(await flood(), new Set(['token_invalid']))
    t.equal(provider.count('/jwks'), 2, 'none more before ten seconds have passed')
    time.ms += 10_000
    t.same(await flood(), new Set(['token_invalid']))
    t.equal(provider.count('/jwks'), 3)
  },
)

t.test('tokens that no key can verify cause no request', async (t) => {
  const { provider, sign, verify } = await start(t)
  t.equal(await verify(await sign({ aud: 'other' })), 'token_invalid')
  t.equal(await verify(await sign({ iss: 'https://other.example' })), null)
  t.equal(await verify(await sign({}, { typ: 'logout+jwt' })), 'token_invalid')
  t.equal(provider.requestCounts.size, 0)
})

t.test('outages', async (t) => {
  const { provider, lines, time, sign, verify } = await start(t)
  const token = await sign()
  for (const path of [DISCOVERY, '/jwks']) {
    const answer = provider.answers.get(path)
    for (const [status, body] of [
      [500, {}],
      [200, 'no JSON'],
      [200, []],
      [302, ''],
    ] as const) {
      provider.answers.set(path, () => ({
        status,
        body,
        headers: { location: `${provider.issuer}/elsewhere` },
      }))
      t.equal(await verify(token), 'unavailable', `${path} ${status} ${JSON.stringify(body)}`)
      time.ms += KEY_TIMES.stale
    }
    if (answer !== undefined) provider.answers.set(path, answer)
  }
  t.match(lines[0], {
    event: 'issuer_token_unknown',
    tenant: 'acme',
    issuer: provider.issuer,
    request_id: 'r-1',
  })
  t.match(await verify(token), { tenant: 'acme' }, 'it is back')
  provider.answers.set('/jwks', () => ({ status: 500, body: '' }))
  t.match(await verify(token), { tenant: 'acme' }, 'its keys are fresh')
  t.equal(await verify(await sign({}, { kid: 'new' })), 'unavailable', 'perhaps a new key')
  time.ms += KEY_TIMES.stale
  t.equal(await verify(token), 'unavailable')
})

t.test('discovery that names another issuer', async (t) => {
  const { provider, sign, verify } = await start(t)
  provider.metadata = { ...provider.metadata, issuer: `${provider.issuer}/` }
  t.equal(await verify(await sign()), 'unavailable')
})

t.test('keys at an address of the settings need no discovery', async (t) => {
  const { provider, config, sign, verify } = await start(t, (issuer) => ({ jwksUri: `${issuer}/jwks` }))
  t.match(await verify(await sign()), { tenant: 'acme' })
  t.equal(provider.count(DISCOVERY), 0)
  t.equal((await inspectIssuer(config, PATIENT)).keys, 1)
  await t.rejects(
    inspectIssuer({ ...config, algorithms: ['RS256'] }, PATIENT),
    /none of the provider's 1 keys/,
  )
})

t.test('discovery leads to no inner address, except that of jwks_uri', async (t) => {
  const { provider, lines, sign, verify } = await start(t)
  const elsewhere = await HostileProvider.start(t)
  elsewhere.keys = provider.keys
  provider.metadata = { ...provider.metadata, jwks_uri: `${elsewhere.issuer}/jwks` }
  t.equal(await verify(await sign()), 'unavailable')
  t.equal(elsewhere.requestCounts.size, 0)
  t.match(lines[0]?.reason, /neither the issuer's nor in jwks_uri/)
  const configured = await start(t, () => ({ jwksUri: `${elsewhere.issuer}/jwks` }))
  elsewhere.keys = configured.provider.keys
  t.match(await configured.verify(await configured.sign()), { tenant: 'acme' })
})

t.test('two entries that fit one token', async (t) => {
  const { config, open, sign } = await start(t)
  const entry = (value: string) => ({ ...config, match: [{ name: 'org', value }] })
  const verify = open({ acme: [entry('acme')], globex: [entry('globex')] })
  t.match(await verify(await sign({ org: 'acme' })), { tenant: 'acme' })
  t.match(await verify(await sign({ org: ['globex'] })), { tenant: 'globex' })
  t.equal(await verify(await sign({ org: ['acme', 'globex'] })), 'token_invalid', 'a user of both')
  t.equal(await verify(await sign({ org: 'initech' })), 'token_invalid')
  t.equal(await verify(await sign({})), 'token_invalid')
})

t.test('a token that fits no entry is no matter of a tenant, where several have its issuer', async (t) => {
  const { config, openIssuers, sign } = await start(t)
  const entry = (value: string) => ({ ...config, match: [{ name: 'org', value }] })
  const callerOf = async (tenants: Record<string, IssuerConfig[]>) => {
    const found = await openIssuers(tenants).verify(await sign({ org: 'initech' }), 'r-1')
    return found instanceof Refusal ? found.caller : 'not refused'
  }
  t.equal(await callerOf({ acme: [entry('acme')], globex: [entry('globex')] }), null)
  t.match(await callerOf({ acme: [entry('acme')] }), { tenant: 'acme', user: `${config.issuer}|alice` })
})

t.test('Seats of a claim, and a user of another one', async (t) => {
  const { config, provider, open, sign } = await start(t)
  const verify = open({ acme: [{ ...config, userClaim: 'act.repository' }] })
  t.match(await verify(await sign({ act: { repository: 'a/b' }, memberOf: 'Viewer' })), {
    user: `${provider.issuer}|a/b`,
    names: ['Viewer'],
    email: null,
  })
  t.match(await verify(await sign({ act: { repository: 'a/b' }, memberOf: undefined })), { names: [] })
  t.equal(
    await verify(await sign({ act: { repository: 'a/b' }, memberOf: { Viewer: true } })),
    'token_invalid',
  )
  t.equal(await verify(await sign({})), 'token_invalid', 'sub is not asked')
})
