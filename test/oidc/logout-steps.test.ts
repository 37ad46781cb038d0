/** Logouts at the provider between any two steps of a sign-in, and of many sessions at once: step by step, without a gateway. */

import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { Committed, StoredSession } from '../../seats-admin/index.ts'
import { Refusal } from '../../src/model/errors.ts'
import type { Reply } from '../../src/oidc/ports.ts'
import { openOidc, openStore } from './component.ts'
import { CLIENT, HostileProvider } from './hostile-provider.ts'
import { OIDC_DEFAULTS } from './provider.ts'

const REDIRECT = 'https://gw.example/auth/oidc/callback/acme'
const store = await openStore(t)
const provider = await HostileProvider.start(t)
const announced: Committed[] = []
const created: string[] = []
/** What happens before and after the creation of a session. */
let between = async (_when: 'before' | 'after'): Promise<void> => {}
async function create(session: StoredSession): Promise<void> {
  await between('before')
  await store.sessions.create(session)
  created.push(session.id)
  await between('after')
}
const client = { issuer: provider.issuer, clientId: CLIENT, clientSecret: null, clientAuth: null }
const addresses = { redirectUri: REDIRECT, postLogoutRedirect: null, scopes: ['openid'] }
const config = { ...OIDC_DEFAULTS, ...client, ...addresses }
const oidc = openOidc(
  t,
  store,
  { acme: config },
  {
    sessions: { ...store.sessions, create },
    announce: async (committed) => void announced.push(committed),
  },
)

const request = { query: '', rawHeaders: [] as string[], body: null, requestId: 'r' }

/** A sign-in of a program, in this session at the provider. */
async function signIn(sid: string, sub: string): Promise<Reply> {
  const body = Buffer.from(JSON.stringify({ tenant: 'acme' }))
  const json = { ...request, rawHeaders: ['Content-Type', 'application/json'], body }
  const begun = await oidc.serve({ ...json, method: 'POST', path: '/auth/oidc/login' })
  if (begun instanceof Refusal) return begun
  const { authorization_url, state } = begun.body as Record<string, string>
  const nonce = new URL(authorization_url ?? '').searchParams.get('nonce')
  provider.gives(await provider.sign(provider.claims({ nonce, sid, sub })))
  const [, cookie = ''] = begun.headers.map((each) => each.split(';')[0] ?? '')
  const query = `${new URLSearchParams({ code: 'a-code', state: state ?? '' })}`
  const callback = { ...request, method: 'GET', path: new URL(REDIRECT).pathname, query }
  return oidc.serve({ ...callback, rawHeaders: ['Cookie', cookie] })
}

async function logOut(claims: Record<string, unknown>): Promise<void> {
  const events = { 'http://schemas.openid.net/event/backchannel-logout': {} }
  const { memberOf: _names, ...common } = provider.claims({ events, jti: randomUUID(), ...claims })
  const token = await provider.sign(common, { typ: 'logout+jwt' })
  const form = { ...request, rawHeaders: ['Content-Type', 'application/x-www-form-urlencoded'] }
  const body = Buffer.from(`${new URLSearchParams({ logout_token: token })}`)
  const reply = await oidc.serve({ ...form, body, method: 'POST', path: '/auth/oidc/backchannel-logout' })
  if (reply.status !== 200) throw new Error(JSON.stringify(reply))
}

const sessions = () => Promise.all(created.map(async (id) => await store.sessions.sessionById('acme', id)))

t.beforeEach(() => {
  created.length = 0
  between = async () => {}
})

t.test(
  'a logout in the middle of a sign-in: the session never survives, in any order of steps',
  async (t) => {
    for (const step of ['before', 'after']) {
      const sid = `middle ${step}`
      between = async (when) => {
        if (when === step) await logOut({ sid, sub: 'dave' })
      }
      t.match(await signIn(sid, 'dave'), { code: 'token_invalid', detail: /logged out/ }, step)
    }
    const ended = await sessions()
    t.equal(ended.length, 2)
    for (const session of ended) t.ok(session?.endedAt)
  },
)

t.test('a user with many sessions', async (t) => {
  t.equal((await signIn('many', 'erin')).status, 200)
  const [row] = await sessions()
  if (!row) throw new Error('no session')
  await Promise.all(Array.from({ length: 1200 }, (_, i) => create({ ...row, id: `${i}`.padStart(22, '0') })))
  announced.length = 0
  await logOut({ sid: undefined, sub: 'erin' })
  for (const session of await sessions()) if (!session?.endedAt) t.fail('a session goes on')
  t.equal(announced.flatMap(({ changes }) => changes).length, 1201)
  t.ok(
    announced.every(({ changes }) => changes.length <= 500),
    'in limited batches',
  )
})
