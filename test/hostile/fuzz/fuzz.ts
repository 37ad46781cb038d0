/**
 * The fuzzer: runs batches of cases against one real gateway. After each batch it checks that the requests at the
 * upstream, the log, the responses and the oracle agree.
 */

import { until } from '../../support/until.ts'
import { type TestGateway, type Exchange, send } from '../gateway.ts'
import { strict } from '../leniency.ts'
import { readRequests } from '../reading.ts'
import { type Decided, sameForAll } from '../upstream.ts'
import { type Case, makeCase } from './case.ts'
import { engine, keyOf, type Verdict } from './oracle.ts'
import { metricsOf } from '../../support/operations.ts'

interface FuzzOptions {
  readonly cases: number
  readonly seed: number
  /** Index of the first case. */
  readonly from?: number
  /** Stops after the first batch with a fault. */
  readonly stopAtFault?: boolean
  /** Milliseconds after which a response, or the end of a connection, is missing. */
  readonly late?: number
}

interface FuzzResult {
  readonly cases: number
  readonly valid: number
  /** Requests that a strict parser finds in the cases, and those that the upstream received. */
  readonly requests: number
  readonly forwarded: number
  readonly refused: number
  /** Descriptions in sentences. */
  readonly faults: readonly string[]
}

const BATCH = 250
const CONCURRENCY = 128
/** Milliseconds without a byte after which a client ends its side; then the connection has to end. */
const PATIENCE = 100
/** Milliseconds: only a fault makes a response, or the end of a connection, take this long. */
const LATE = 60_000

export async function fuzz(gateway: TestGateway, options: FuzzOptions): Promise<FuzzResult> {
  const { cases, seed, from = 0, stopAtFault = false, late = LATE } = options
  const totals = { cases: 0, valid: 0, requests: 0, forwarded: 0, refused: 0, faults: [] as string[] }
  let ledger = newLedger()
  for (let first = from; first < from + cases; first += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, from + cases - first) }, (_, i) =>
      makeCase(seed, first + i),
    )
    ledger = await runBatch(gateway, batch, { before: ledger, totals, late })
    if (stopAtFault && totals.faults.length > 0) break
  }
  return totals
}

interface Totals {
  cases: number
  valid: number
  requests: number
  forwarded: number
  refused: number
  faults: string[]
}

/** Requests that may still be forwarded, and decisions: of this batch and, for late ones, of the last. */
interface Ledger {
  readonly allowed: Map<string, number>
  decided: Decided[]
  /** Responses of the upstream that clients received. */
  answered: number
}

const newLedger = (): Ledger => ({ allowed: new Map(), decided: [], answered: 0 })

async function runBatch(
  gateway: TestGateway,
  batch: readonly Case[],
  { before, totals, late }: { before: Ledger; totals: Totals; late: number },
): Promise<Ledger> {
  const ledger = newLedger()
  const waiting = [...batch].toReversed()
  const work = async () => {
    for (let each = waiting.pop(); each !== undefined; each = waiting.pop())
      await runCase(gateway, each, { ledger, totals, late })
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
  const { forwarded, faults } = await checkUpstream(gateway, before, ledger)
  totals.forwarded += forwarded
  totals.faults.push(...faults.map((fault) => `cases ${batch[0]?.index}–${batch.at(-1)?.index}: ${fault}`))
  return ledger
}

async function runCase(
  gateway: TestGateway,
  each: Case,
  { ledger, totals, late }: { ledger: Ledger; totals: Totals; late: number },
): Promise<void> {
  const verdict = engine(each.bytes)
  for (const request of verdict.requests)
    if (request !== null) ledger.allowed.set(request.key, (ledger.allowed.get(request.key) ?? 0) + 1)
  const exchange = await run(gateway, each, verdict, late)
  ledger.answered += exchange.all.filter(({ status }) => status === 200).length
  totals.cases++
  totals.valid += Number(each.valid)
  totals.requests += verdict.requests.length
  totals.refused += exchange.all.filter(({ status }) => status >= 400).length
  const fault = faultOf(each, verdict, exchange)
  if (fault !== null) totals.faults.push(`case ${each.index}: ${fault}\n${show(each, exchange)}`)
}

/**
 * Waits for the expected responses, or for silence; then the client ends its side, and the gateway must end the
 * connection.
 */
function run(gateway: TestGateway, each: Case, { heads, due }: Verdict, late: number): Promise<Exchange> {
  const patience = each.valid ? late : PATIENCE
  const answers = each.valid ? due : Infinity
  return send(gateway.world.port, each.packets, { answers, heads, patience, finishAfter: late })
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

async function checkUpstream(gateway: TestGateway, before: Ledger, ledger: Ledger) {
  const faults: string[] = []
  const { upstream } = gateway
  await quiet(gateway)
  ledger.decided = gateway.decided()
  const disagreement = sameForAll(upstream.streams, [...before.decided, ...ledger.decided])
  if (disagreement !== null) faults.push(disagreement)
  const got = upstream.streams
    .flatMap((bytes) => readRequests(bytes, strict).requests)
    .filter(({ whole }) => whole)
  for (const request of got) {
    const key = keyOf(request, request.target)
    if (!take(ledger.allowed, key) && !take(before.allowed, key))
      faults.push(`forwarded a request that no strict reading allows: ${key}`)
  }
  if (got.length < ledger.answered)
    faults.push(`${ledger.answered} answers of an upstream that got ${got.length} requests`)
  gateway.forget()
  return { forwarded: got.length, faults }
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
