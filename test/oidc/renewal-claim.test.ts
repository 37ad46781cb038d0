/** The claim of a session's renewal outlasts the longest renewal, so that no two instances use one refresh token. */

import { mock } from 'node:test'
import { performance } from 'node:perf_hooks'
import t from 'tap'
import { Refusal } from '../../src/model/errors.ts'
import { sealProviderGrant } from '../../src/oidc/session/open-session.ts'
import { openOidc, openStore, tenantOf } from './component.ts'
import { CLIENT, HostileProvider } from './hostile-provider.ts'
import { OIDC_DEFAULTS } from './provider.ts'

const HOUR = 3_600_000
/** The limit of a request to the provider, in ms. */
const REQUEST = 5_000
/** The limit of a call of the store, in ms. */
const CALL = 2_000
/** The limit of a numbered write, in ms: it waits for a file of Seats, and then takes as long as another call. */
const WRITE = 5 * CALL + CALL
const DISCOVERY = '/.well-known/openid-configuration'

/** The milliseconds by which both clocks of the gateway are ahead. */
let ahead = 0
const monotonic = performance.now.bind(performance)
const moved = mock.method(performance, 'now', () => monotonic() + ahead)
t.teardown(() => moved.mock.restore())
const clock = () => Date.now() + ahead

/** The answer arrives just within the limit, if the provider and the store are slow. */
let isSlow = false
const within = (limit: number) => void (ahead += isSlow ? limit - 1 : 0)

const store = await openStore(t)
const provider = await HostileProvider.start(t)
const client = { issuer: provider.issuer, clientId: CLIENT, clientSecret: null, clientAuth: null }
const addresses = { redirectUri: 'https://gw.example/callback', postLogoutRedirect: null, scopes: ['openid'] }
const config = { ...OIDC_DEFAULTS, ...client, ...addresses }

/** Discovery by way of a redirect, another address of the keys each time, and an ID token that lacks the Seats. */
async function answerSlowly(): Promise<void> {
  const document = provider.answers.get(DISCOVERY)
  const keys = provider.answers.get('/jwks')
  if (document === undefined || keys === undefined) throw new Error('the provider has no document')
  provider.answers.set(DISCOVERY, () => {
    within(REQUEST)
    return { status: 302, headers: { location: `${DISCOVERY}/` }, body: '' }
  })
  let documents = 0
  provider.answers.set(`${DISCOVERY}/`, (...request) => {
    within(REQUEST)
    const address = `/jwks/${++documents}`
    const at = (path: string) => `${provider.issuer}${path}`
    provider.metadata = { jwks_uri: at(address), userinfo_endpoint: at('/userinfo') }
    // The first document of a renewal is read again with the keys, whose first address takes no time.
    provider.answers.set(address, (...of) => {
      if (documents % 2 === 0) return { status: 404, body: '' }
      within(REQUEST)
      return keys(...of)
    })
    return document(...request)
  })
  provider.answers.set('/userinfo', () => {
    within(REQUEST)
    return { body: { sub: 'alice', memberOf: ['Viewer'] } }
  })
}

/** The token response of the renewal that follows. */
async function signToken(): Promise<void> {
  const now = Math.floor(clock() / 1000)
  const claims = provider.claims({ iat: now, exp: now + 600, memberOf: undefined })
  provider.gives(await provider.sign(claims), { refresh_token: `refresh token ${now}` })
  const tokens = provider.answers.get('/token')
  provider.answers.set('/token', (...request) => {
    within(REQUEST)
    return tokens?.(...request) ?? null
  })
}

t.test('no other instance claims a renewal that takes as long as it may', async (t) => {
  const claimedByOthers: boolean[] = []
  let took = 0
  const oidc = openOidc(
    t,
    store,
    { acme: config },
    {
      now: clock,
      seats: {
        groupsOf: async () => null,
        recordScimMember: async () => null,
        seatsByName: async () => {
          within(CALL)
          return []
        },
        recordSignIn: async (...user) => {
          within(CALL)
          within(WRITE)
          await store.recordSignIn(...user)
        },
      },
      sessions: {
        ...store.sessions,
        claimRenewal: async (...claim) => {
          took = ahead
          const claimed = await store.sessions.claimRenewal(...claim)
          within(CALL)
          return claimed
        },
        renew: async (...renewal) => {
          within(WRITE)
          took = ahead - took
          const claimed = await store.sessions.claimRenewal('acme', 'session', clock(), clock() + HOUR)
          claimedByOthers.push(claimed !== null)
          return store.sessions.renew(...renewal)
        },
      },
    },
  )
  const grant = { refreshToken: 'refresh token', idToken: null, nonce: 'nonce' }
  await store.sessions.create({
    ...{ id: 'session', tenant: 'acme', user: 'alice', email: null, name: null, hashPerm: [] },
    ...{ cookieHash: new Uint8Array(32), familyHash: null, handleHash: null, providerSession: null },
    ...{
      issuedAt: 1,
      createdAt: 1,
      renewAt: 1,
      expiresAt: clock() + 100 * HOUR,
      endedAt: null,
      revoked: false,
      voidUntil: 0,
    },
    sealed: sealProviderGrant(grant, tenantOf('acme', config), 'session'),
  })
  await answerSlowly()
  for (const slow of [false, true]) {
    await signToken()
    isSlow = slow
    const renewed = await oidc.renew('acme', 'session')
    t.notOk(renewed instanceof Refusal, `the session is renewed: ${JSON.stringify(renewed)}`)
    // The documents of the provider are stale from then on.
    ahead += 25 * HOUR
  }
  t.ok(took > 60_000, `${took} ms`)
  t.same(claimedByOthers, [false, false])
})
