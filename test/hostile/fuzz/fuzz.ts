/**
 * The fuzzer: runs batches of cases against one real gateway. After each batch it checks that the requests at the
 * upstream, the log, the responses and the oracle agree.
 */

import { until } from '../../support/until.ts'
import { type TestGateway, type Exchange, send } from '../gateway.ts'
import { type Decided, sameForAll } from '../upstream.ts'
import { type Case, makeCase } from './case.ts'
import { engine, keyOf, type Verdict } from './oracle.ts'
import { metricsOf } from '../../support/operations.ts'

interface FuzzOptions {
  readonly cases: number
  readonly seed: number
  /** Index of the first case. */
  readonly from: number
  /** Milliseconds: only a fault makes a response, or the end of a connection, take this long. */
  readonly late: number
}

interface Totals {
  cases: number
  valid: number
  /** Requests that a strict parser finds in the cases, and those that the upstream received. */
  requests: number
  forwarded: number
  refused: number
  /** Descriptions in sentences. */
  readonly faults: string[]
}

/** Requests that may still be forwarded, and decisions: of this batch and, for late ones, of the last. */
interface Ledger {
  readonly allowed: Map<string, number>
  decided: Decided[]
  /** Responses of the upstream that clients received. */
  answered: number
}

const BATCH = 250
const CONCURRENCY = 128
/** Milliseconds without a byte after which a client ends its side; then the connection has to end. */
const PATIENCE = 100

/** Ends after the first batch with a fault. */
export async function fuzz(gateway: TestGateway, options: FuzzOptions): Promise<Totals> {
  const { cases, seed, from, late } = options
  const totals: Totals = { cases: 0, valid: 0, requests: 0, forwarded: 0, refused: 0, faults: [] }
  let before = newLedger()
  for (let next = from; next < from + cases && totals.faults.length === 0;) {
    const ledger = newLedger()
    const [first, end] = [next, Math.min(next + BATCH, from + cases)]
    const work = async () => {
      while (next < end) await runCase(gateway, makeCase(seed, next++), { ledger, totals, late })
    }
    await Promise.all(Array.from({ length: CONCURRENCY }, work))
    for (const fault of await checkUpstream(gateway, { before, ledger, totals }))
      totals.faults.push(`cases ${first}–${end - 1}: ${fault}`)
    before = ledger
  }
  return totals
}

const newLedger = (): Ledger => ({ allowed: new Map(), decided: [], answered: 0 })

/**
 * Waits for the expected responses, or for silence; then the client ends its side, and the gateway must end the
 * connection.
 */
async function runCase(
  { world }: TestGateway,
  each: Case,
  { ledger, totals, late }: { ledger: Ledger; totals: Totals; late: number },
): Promise<void> {
  const verdict = engine(each.bytes)
  for (const request of verdict.requests)
    if (request !== null) ledger.allowed.set(request.key, (ledger.allowed.get(request.key) ?? 0) + 1)
  const waiting = each.valid
    ? { answers: verdict.due, patience: late }
    : { answers: Infinity, patience: PATIENCE }
  const exchange = await send(world.port, each.packets, {
    ...waiting,
    heads: verdict.heads,
    finishAfter: late,
  })
  ledger.answered += exchange.all.filter(({ status }) => status === 200).length
  totals.cases++
  totals.valid += Number(each.valid)
  totals.requests += verdict.requests.length
  totals.refused += exchange.all.filter(({ status }) => status >= 400).length
  const fault = faultOf(each, verdict, exchange)
  if (fault !== null) totals.faults.push(`case ${each.index}: ${fault}\n${show(each, exchange)}`)
}

/** The fault in the responses of one case. */
function faultOf(
  { valid, bytes }: Case,
  { requests, due }: Verdict,
  { all, rest, end }: Exchange,
): string | null {
  if (end === 'open' && !(valid && all.length >= due)) return 'the connection neither answers nor ends'
  // A client that begins with the preface of HTTP/2 is refused in HTTP/2. Empty lines before a request are ignored.
  if (rest !== '' && end !== 'reset' && !/^(?:\r\n)*PRI \* HTTP\/2\.0\r\n/.test(bytes))
    return `not a response: ${JSON.stringify(rest)}`
  for (const [index, { status, code, closes }] of all.entries()) {
    const request = requests[index]
    if (status >= 500) return `${status}`
    if (status === 200 && (request === undefined || request === null)) return `answer ${index + 1} is 200`
    if (status !== 200 && status < 400) return `answer ${index + 1} is ${status}`
    if (valid && (status === 200) !== (request !== null)) return `answer ${index + 1} is ${status} ${code}`
    if (closes && index < all.length - 1) return `answer ${index + 1} closes, and others follow`
  }
  if (valid && all.length !== due) return `${all.length} answers to ${due} requests`
  return null
}

/** @returns the faults */
async function checkUpstream(
  gateway: TestGateway,
  { before, ledger, totals }: { before: Ledger; ledger: Ledger; totals: Totals },
): Promise<string[]> {
  const faults: string[] = []
  const { upstream } = gateway
  await quiet(gateway)
  ledger.decided = gateway.decided()
  const disagreement = sameForAll(upstream.streams, [...before.decided, ...ledger.decided])
  if (disagreement !== null) faults.push(disagreement)
  const got = upstream.requests.filter(({ whole }) => whole)
  for (const request of got) {
    const key = keyOf(request, request.target)
    if (!take(ledger.allowed, key) && !take(before.allowed, key))
      faults.push(`forwarded a request that no strict reading allows: ${key}`)
  }
  if (got.length < ledger.answered)
    faults.push(`${ledger.answered} answers of an upstream that got ${got.length} requests`)
  totals.forwarded += got.length
  gateway.forget()
  return faults
}

function take(allowed: Map<string, number>, key: string): boolean {
  const times = allowed.get(key) ?? 0
  if (times > 0) allowed.set(key, times - 1)
  return times > 0
}

/** Waits until neither the gateway nor the upstream has a request in flight. */
function quiet({ world, upstream }: TestGateway): Promise<void> {
  const isQuiet = async () => {
    const metrics = await metricsOf(world)
    return upstream.settled && /^seatgate_requests_in_flight 0$/m.test(metrics)
  }
  return until(isQuiet, 'the end of all requests', { pause: 20 })
}

function show({ packets }: Case, { text, end }: Exchange): string {
  return `  sent ${JSON.stringify(packets)}\n  got ${JSON.stringify(text.slice(0, 600))} (${end})`
}
