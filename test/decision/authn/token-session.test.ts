/** A token that names its session (`sid`) ends with it. */

import t from 'tap'
import type { SessionRecord } from '../../../seats-admin/index.ts'
import { verifiedBytes } from '../../../src/decision/authn/token-claims.ts'
import { mintToken, verifyToken } from '../../../src/decision/authn/gateway-token.ts'
import type { Trace } from '../../../src/model/decision.ts'
import { Refusal } from '../../../src/model/errors.ts'
import { acme, authenticator, bearer, claims, credentials, globex, NOW, sign, tenants } from './support.ts'
import { traceFrom } from '../trace.ts'

const SID = 'A-session_id-of-22char'

function record(more: Partial<SessionRecord> = {}): SessionRecord {
  return {
    id: SID,
    tenant: 'acme',
    cookieHash: null,
    user: 'alice',
    email: null,
    hashPerm: [],
    issuedAt: NOW / 1000,
    renewAt: NOW + 1000,
    expiresAt: NOW + 2000,
    endedAt: null,
    revoked: false,
    voidUntil: 0,
    ...more,
  }
}

/** The result for a token with `sid`, where its session is this one. */
const of = (session: SessionRecord | null, more: object = {}) =>
  bearer(sign({ ...claims, sid: SID, ...more }), { sessionById: () => session })

t.test('the session is live', async (t) => {
  t.match(await of(record()), { user: 'alice', session: SID, method: 'bearer' })
})

t.test('its session ends it, and not its iat', async (t) => {
  for (const iat of [undefined, 1, claims.iat])
    t.match(await of(record(), { iat }), { owner: 'alice', issuedAt: Infinity })
})

t.test('the session has ended', async (t) => {
  t.equal(await of(record({ endedAt: NOW - 1 })), 'token_invalid')
})

t.test('the session is unknown, or its row is gone', async (t) => {
  t.equal(await of(null), 'token_invalid')
})

t.test('a token without sid looks for no session', async (t) => {
  const sessionById = () => {
    throw new Error('a session was looked up')
  }
  t.match(await bearer(sign(claims), { sessionById }), { user: 'alice', session: null })
  t.match(await bearer(sign({ ...claims, sid: null }), { sessionById }), { session: null })
})

t.test('a sid that is no session id', async (t) => {
  for (const sid of ['', 'x', `${SID}A`, ` ${SID}`, 7, true, [SID], { id: SID }, '\ud800'])
    t.equal(await of(record(), { sid }), 'token_invalid', JSON.stringify(sid))
})

t.test("the session is looked up in the token's tenant", async (t) => {
  const asked: string[] = []
  const token = await mintToken(globex, { sub: 'bob', hashPerm: [], sid: SID }, NOW)
  const sessionById = (tenant: string, id: string) => {
    asked.push(`${tenant} ${id}`)
    return null
  }
  t.equal(await bearer(token, { sessionById }), 'token_invalid')
  t.same(asked, [`globex ${SID}`])
})

t.test('a cached token is checked at each use', async (t) => {
  let session: SessionRecord | null = record()
  const authn = authenticator({ sessionById: () => session })
  const given = credentials({ authorization: [`Bearer ${sign({ ...claims, sid: SID })}`] })
  t.notOk(authn.authenticate(given) instanceof Refusal)
  session = record({ endedAt: NOW })
  t.match(authn.authenticate(given), { code: 'token_invalid' })
  session = null
  t.match(authn.authenticate(given), { code: 'token_invalid' })
  session = record()
  t.notOk(authn.authenticate(given) instanceof Refusal, 'the refusal is not cached')
})

t.test('an expired token, and a forged one, look for no session', async (t) => {
  const sessionById = () => {
    throw new Error('a session was looked up')
  }
  const expired = sign({ ...claims, sid: SID, exp: 1 })
  t.equal(await bearer(expired, { sessionById }), 'token_expired')
  const forged = sign({ ...claims, sid: SID }, { secret: Buffer.alloc(32) })
  t.equal(await bearer(forged, { sessionById }), 'token_invalid')
})

t.test('a session that is not in memory: the store is asked, and its fault is no allow', async (t) => {
  const trace = traceFrom()
  const sessionById = async (_tenant: string, _id: string, trace?: Trace) => {
    if (trace !== undefined) trace.source = 'store'
    return record()
  }
  const given = credentials({ authorization: [`Bearer ${sign({ ...claims, sid: SID })}`] })
  t.match(await authenticator({ sessionById }).authenticate(given, trace), { session: SID })
  t.equal(trace.source, 'store')
  const away = async () => {
    throw new Error('the store is away')
  }
  await t.rejects(Promise.resolve(authenticator({ sessionById: away }).authenticate(given)))
})

t.test('the weight of a cached token includes its session', async (t) => {
  const weight = (token: string) => {
    const verified = verifyToken(token, { tenants: tenants(acme), defaultTenant: null })
    return verified instanceof Refusal ? 0 : verifiedBytes(verified)
  }
  t.ok(weight(sign({ ...claims, sid: SID })) > weight(sign(claims)) + SID.length)
})
