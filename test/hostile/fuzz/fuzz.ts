/**
 * The fuzzer: cases in batches against one real gateway, and after each batch the question whether what reached the
 * upstream, what was logged and what was answered agree with each other and with the oracle.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { type Door, type Outcome, send } from '../door.ts'
import { strict } from '../leniency.ts'
import { readRequests } from '../reading.ts'
import { type Decided, sameForAll } from '../upstream.ts'
import { type Case, makeCase } from './case.ts'
import { engine, keyOf, type Verdict } from './oracle.ts'

export interface FuzzOptions {
  readonly cases: number
  readonly seed: number
  /** Index of the first case. */
  readonly from?: number
  /** Ends at the first batch that has a fault. */
  readonly stopAtFault?: boolean
}

export interface FuzzResult {
  readonly cases: number
  readonly valid: number
  /** Requests that a strict parser sees in the cases, and those that the upstream got. */
  readonly requests: number
  readonly forwarded: number
  readonly refused: number
  /** Sentences. */
  readonly faults: readonly string[]
}

const BATCH = 1000
const CONCURRENCY = 128
/** Milliseconds without a byte after which a client says that it is done; then the connection has to end. */
const PATIENCE = 150
const VALID_PATIENCE = 10_000
const END_PATIENCE = 10_000

export async function fuzz(door: Door, options: FuzzOptions): Promise<FuzzResult> {
  const { cases, seed, from = 0, stopAtFault = false } = options
  const totals = { cases: 0, valid: 0, requests: 0, forwarded: 0, refused: 0, faults: [] as string[] }
  let ledger = newLedger()
  for (let first = from; first < from + cases; first += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, from + cases - first) }, (_, i) =>
      makeCase(seed, first + i),
    )
    ledger = await runBatch(door, batch, ledger, totals)
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

/** Requests that may be forwarded and were not yet, and what was decided: of this batch and, where it came late, the last. */
interface Ledger {
  readonly allowed: Map<string, number>
  decided: Decided[]
  /** Answers of the upstream's that clients got. */
  answered: number
}

const newLedger = (): Ledger => ({ allowed: new Map(), decided: [], answered: 0 })

async function runBatch(door: Door, batch: readonly Case[], before: Ledger, totals: Totals): Promise<Ledger> {
  const ledger = newLedger()
  const waiting = [...batch].toReversed()
  const work = async () => {
    for (let each = waiting.pop(); each !== undefined; each = waiting.pop())
      await runCase(door, each, ledger, totals)
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
  const { forwarded, faults } = await checkUpstream(door, before, ledger)
  totals.forwarded += forwarded
  totals.faults.push(...faults.map((fault) => `cases ${batch[0]?.index}–${batch.at(-1)?.index}: ${fault}`))
  return ledger
}

async function runCase(door: Door, each: Case, ledger: Ledger, totals: Totals): Promise<void> {
  const verdict = engine(each.bytes)
  for (const request of verdict.requests)
    if (request !== null) ledger.allowed.set(request.key, (ledger.allowed.get(request.key) ?? 0) + 1)
  const outcome = await run(door, each, verdict)
  ledger.answered += outcome.all.filter(({ status }) => status === 200).length
  totals.cases++
  totals.valid += Number(each.valid)
  totals.requests += verdict.requests.length
  totals.refused += outcome.all.filter(({ status }) => status >= 400).length
  const fault = faultOf(each, verdict, outcome)
  if (fault !== null) totals.faults.push(`case ${each.index}: ${fault}\n${show(each, outcome)}`)
}

/** Waits for the answers that are due, or for silence; then the client ends its side, and the gateway must too. */
function run(door: Door, each: Case, { heads, due }: Verdict): Promise<Outcome> {
  const patience = each.valid ? VALID_PATIENCE : PATIENCE
  const answers = each.valid ? due : Infinity
  return send(door.world.port, each.packets, { answers, heads, patience, finishAfter: END_PATIENCE })
}

/** What the answers of one case say. */
function faultOf({ valid }: Case, { requests, due }: Verdict, { all, rest, end }: Outcome): string | null {
  if (end === 'open' && !(valid && all.length >= due)) return 'the connection neither answers nor ends'
  if (rest !== '' && end !== 'reset') return `what came is no answer: ${JSON.stringify(rest)}`
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

async function checkUpstream(door: Door, before: Ledger, ledger: Ledger) {
  const faults: string[] = []
  const { upstream } = door
  await quiet(door)
  ledger.decided = door.decided()
  const disagreement = sameForAll(upstream.streams, [...before.decided, ...ledger.decided])
  if (disagreement !== null) faults.push(disagreement)
  const got = upstream.streams
    .flatMap((bytes) => readRequests(bytes, strict).requests)
    .filter(({ whole }) => whole)
  for (const request of got) {
    const key = keyOf(request, request.target)
    if (!take(ledger.allowed, key) && !take(before.allowed, key))
      faults.push(`forwarded what no strict reading allows: ${key}`)
  }
  if (got.length < ledger.answered)
    faults.push(`${ledger.answered} answers of an upstream that got ${got.length} requests`)
  door.forget()
  return { forwarded: got.length, faults }
}

function take(allowed: Map<string, number>, key: string): boolean {
  const times = allowed.get(key) ?? 0
  if (times > 0) allowed.set(key, times - 1)
  return times > 0
}

/** Until nothing is under way: neither at the gateway nor at the upstream. */
async function quiet({ world, upstream }: Door): Promise<void> {
  for (let i = 0; i < 500; i++) {
    await sleep(20)
    const metrics = await (await fetch(`${world.ops}/metrics`)).text()
    if (upstream.settled && /^seatgate_requests_in_flight 0$/m.test(metrics)) return
  }
}

function show({ packets }: Case, { text, end }: Outcome): string {
  return `  sent ${JSON.stringify(packets)}\n  got ${JSON.stringify(text.slice(0, 600))} (${end})`
}
