/**
 * `node bench/staleness.ts [--seconds N] [--only NAME[,NAME]]`: for how long Seatgate and its alternatives
 * decide on a state from before the 2xx of a change. The checker and the readers are those of `seatgate
 * verify`; a right is granted and revoked once a second, or as seldom as a cache needs to show how long it
 * keeps a state. Prints a table in Markdown.
 */

import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { readAll, Subjects } from '../src/cli/verify/readers.ts'
import { RunRecord, type RunReport } from '../src/cli/verify/run-record.ts'
import { Subject, type Write } from '../src/cli/verify/staleness.ts'
import { Ending, refuse, runBench, say, temporaryFolder } from './harness.ts'
import { cachedPeers } from './staleness/cached-gateways.ts'
import { casbinPeers } from './staleness/casbin-gateways.ts'
import { cerbosPeers } from './staleness/cerbos-servers.ts'
import { routePeers } from './staleness/route-changes.ts'
import { seatgates } from './staleness/seatgates.ts'
import type { Caller, RunningStalenessPeer, StalenessPeer } from './staleness/staleness-peer.ts'

const READERS = 4
const ANSWERS = { allow: ['allow'], deny: ['permission_denied'] } as const

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '30' }, only: { type: 'string' } },
})
const seconds = Number(values.seconds)
const peers = [...seatgates, ...cachedPeers, ...casbinPeers, ...cerbosPeers, ...routePeers]
const chosen = peers.filter(({ name }) => values.only?.split(',').includes(name) ?? true)
if (!(seconds >= 4) || chosen.length === 0)
  refuse(`--seconds is at least 4; there are ${peers.map(({ name }) => name).join(', ')}`)

await runBench(async () => {
  console.log(
    '| peer | reads | stale | longest, ms after the 2xx | write until 2xx, ms (p50, largest) | configuration |',
  )
  console.log('|---|--:|--:|--:|--:|---|')
  for (const peer of chosen) {
    const why = peer.unavailable?.() ?? null
    if (why === null) console.log(rowOf(peer, await measure(peer)))
    else say(`${peer.name}: ${why}`)
  }
})

async function measure(peer: StalenessPeer): Promise<RunReport> {
  await using ending = new Ending()
  const folder = temporaryFolder(ending, peer.name)
  return await run(await peer.start(ending, folder), peer.every ?? 1)
}

/** @param every seconds between two writes */
async function run(
  { places, caller, write, fault }: RunningStalenessPeer,
  every: number,
): Promise<RunReport> {
  const turns = Math.floor(seconds / every)
  const record = new RunRecord(
    places.map(({ name }) => name),
    () => performance.now(),
    Date.now(),
  )
  const first = writeOf(false)
  await write(false, 0)
  first.answered = performance.now()
  const subject = new Subject<Caller>('caller', caller, first, ANSWERS.deny)
  const subjects = new Subjects<Caller>()
  const ends = new AbortController()
  record.beginReads()
  subjects.add(subject)
  const reading = readAll(places, subjects, record, { count: READERS, signal: ends.signal })
  for (let turn = 1; turn <= turns; turn++) {
    const due = performance.now() + 1000 * every
    const isFault = turn === Math.ceil(turns / 4) || turn === Math.ceil((3 * turns) / 4)
    if (isFault) await fault?.()
    const allow = turn % 2 === 1
    const change = writeOf(allow)
    subject.begin(change, allow ? ANSWERS.allow : ANSWERS.deny)
    await write(allow, turn)
    change.answered = performance.now()
    record.wrote(change)
    subjects.wake([subject])
    await sleep(Math.max(0, due - performance.now()))
  }
  ends.abort()
  record.endReads()
  await reading
  return record.report([])
}

/** Returns a write that begins now. */
function writeOf(allow: boolean): Write {
  const operation = allow ? 'grant' : 'revoke'
  return { operation, place: '', began: performance.now(), answered: Infinity, requestId: '' }
}

function rowOf({ label, configuration }: StalenessPeer, report: RunReport): string {
  const { reads, violations_total: stale, longest_stale_ms: longest, write_ms: write } = report
  const times = `${write.p50?.toFixed(1)}, ${write.max?.toFixed(0)}`
  return `| ${label} | ${reads} | ${stale} | ${longest?.toFixed(0) ?? '0'} | ${times} | ${configuration} |`
}
