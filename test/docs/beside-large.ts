/**
 * Behind every proxy that asks, a caller with the largest identity: the service gets all of it, or the client a refusal. A proxy that
 * drops a header which it has no room for would let a request pass without it.
 */

import t from 'tap'
import { verified } from '../identity/support.ts'
import { HostileProvider } from '../oidc/hostile-provider.ts'
import { IDENTITY_FIELDS } from '../../src/proxy/identity-headers.ts'
import { type FilesOf, startBeside } from './beside.ts'

const AUDIENCE = 'https://gw.example'
const COUNTS = [1, 32, 60, 80, 200]
const BODIES = [0, 4_000, 15_000, 64 * 1024, 1024 * 1024]
const NAMES = Array.from({ length: 200 }, (_, at) => `Leiter der Abteilung für Schulungen, Bereich ${at}`)
/** A header section of the client has at most 32 KiB. */
const CLIENT_BYTES = [3_000, 6_000, 9_000, 12_000, 15_000, 18_000, 24_000, 30_000]

/** A gateway with callers of many Seats, and a way to send as them. */
export async function startLarge(files: FilesOf) {
  const issuer = await HostileProvider.start(t)
  issuer.metadata = { authorization_endpoint: undefined, token_endpoint: undefined }
  const entries = COUNTS.map((count) => ({
    issuer: issuer.issuer,
    audience: AUDIENCE,
    seats: NAMES.slice(0, count),
    match: { seats: String(count) },
    allow_insecure: true,
  }))
  const beside = await startBeside(t, files, { acme: [`issuers: ${JSON.stringify(entries)}`] })
  const { world, seen, send } = beside
  for (const name of NAMES) await world.seat(name, ['main'], ['trainings:create'])
  const keySet = (await world.client.send('GET', '/.well-known/seatgate/jwks.json')).body
  // Three times as long in a header: each of its letters is percent-encoded.
  const sub = 'ü'.repeat(254 - issuer.issuer.length)

  const callerOf = async (count: number) => {
    const claims = issuer.claims({ aud: AUDIENCE, sub, seats: String(count) })
    return { authorization: `Bearer ${await issuer.sign(claims)}`, space: 'main' }
  }
  /** The identity in these headers, and the claims of its JWT that are the same in each signature. */
  const identityIn = async (headers: Record<string, unknown>) => {
    const token = headers['x-seatgate-jwt']
    if (typeof token !== 'string') return null
    const claims = { ...(await verified(token, keySet, 'main')), iat: 0, exp: 0, jti: '' }
    return [...IDENTITY_FIELDS.map((name) => headers[name] ?? ''), claims]
  }
  /** What the gateway itself forwards for such a caller. */
  const expected = async (headers: Record<string, string>) => {
    const { status } = await world.client.send('POST', '/v1/trainings', headers)
    if (status !== 200) throw new Error(`the gateway itself answers ${status}`)
    return identityIn(world.upstream.seen.at(-1)?.headers ?? {})
  }
  /** Sends, and gives the status. Fails where a request reaches the service without a part of the identity. */
  const wholeOrRefused = async (headers: Record<string, string>, body: number, whole: unknown) => {
    const before = seen.length
    const { status } = await send('POST', '/v1/trainings', headers, Buffer.alloc(body, 'a'))
    if (status !== 200) t.equal(seen.length, before, `${status}: the service gets nothing`)
    else t.strictSame(await identityIn(seen.at(-1)?.headers ?? {}), whole, 'the service gets the identity')
    return status
  }
  return { world, callerOf, expected, wholeOrRefused }
}

type Large = Awaited<ReturnType<typeof startLarge>>

export function largeCases({ world, callerOf, expected, wholeOrRefused }: Large): void {
  t.test('each caller passes with all of its identity, beside a body of any size', async (t) => {
    for (const count of COUNTS) {
      const caller = await callerOf(count)
      const whole = await expected(caller)
      for (const body of BODIES)
        t.equal(await wholeOrRefused(caller, body, whole), 200, `${count} Seats, ${body} bytes`)
    }
  })

  t.test('so does a caller whose token names the Seats', async (t) => {
    const caller = {
      authorization: `Bearer ${await world.token(NAMES.map((name) => `main:${name}`))}`,
      space: 'main',
    }
    t.ok(caller.authorization.length > 12_000)
    const whole = await expected(caller)
    for (const body of BODIES) t.equal(await wholeOrRefused(caller, body, whole), 200, `${body} bytes`)
  })

  t.test('beside headers and cookies of any size too, or it is refused', async (t) => {
    const caller = await callerOf(200)
    const whole = await expected(caller)
    for (const bytes of CLIENT_BYTES) {
      const lines = Array.from({ length: bytes / 3_000 }, (_, at) => [`x-filler-${at}`, 'a'.repeat(2_900)])
      const headers = { ...caller, ...Object.fromEntries(lines), cookie: `a=${'b'.repeat(bytes / 8)}` }
      const status = await wholeOrRefused(headers, 64 * 1024, whole)
      if (bytes <= 6_000) t.equal(status, 200, `${bytes} bytes`)
    }
  })
}
