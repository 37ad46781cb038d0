/** The results of samples: selection, medians, ratios, tables and drawings. */

import t, { type Test } from 'tap'
import { comparisonOf } from '../../bench/compare.ts'
import { curveDrawing } from '../../bench/curves/drawing.ts'
import type { Sample } from '../../bench/measure.ts'
import type { Peer } from '../../bench/peers/peer.ts'
import { picture } from '../../bench/picture.ts'
import { choose, PARTS } from '../../bench/plan.ts'
import type { Measured } from '../../bench/measured.ts'
import { report } from '../../bench/results.ts'
import { medianInterval } from '../../bench/statistics.ts'
import { ratioOf, summaryOf } from '../../bench/summary.ts'
import { workloads } from '../../bench/workloads.ts'

const peer = (name: string, authorises = true): Peer => ({
  name,
  label: `<${name}> & "co"`,
  authorises,
  available: () => null,
  start: () => Promise.reject(new Error('not started')),
})
const peers = [peer('seatgate'), peer('haproxy-jwt'), peer('nginx', false)]

t.test('--only', async (t) => {
  const chosen = (only: string[] | null, quick = false) => {
    const choice = choose(peers, workloads, only, quick)
    if (!('parts' in choice)) return choice
    const names = (list: readonly { name: string }[]) => list.map(({ name }) => name)
    return { peers: names(choice.peers), workloads: names(choice.workloads), parts: choice.parts }
  }
  const everything = workloads.map(({ name }) => name)
  const all = peers.map(({ name }) => name)
  t.same(chosen(null), { peers: all, workloads: everything, parts: PARTS })
  t.same(chosen(['nginx']), { peers: ['nginx'], workloads: ['mixed'], parts: [] })
  t.same(chosen(['api-keys']), { peers: all, workloads: ['api-keys'], parts: [] })
  t.same(chosen(['nginx', 'public', 'micro']), { peers: ['nginx'], workloads: ['public'], parts: ['micro'] })
  t.same(chosen(['micro']), { peers: all, workloads: [], parts: ['micro'] })
  t.same(chosen(['nginx', 'nginy']), ['nginy'], 'unknown names are reported')
  const quick = chosen(null, true)
  t.ok('workloads' in quick && quick.workloads.length < everything.length)
  t.ok('workloads' in quick && quick.workloads[0] === 'mixed', 'the table of peers is always there')
})

const sample = (cpu: number, p99: number | null = null): Sample => ({
  warmed: 200_000,
  cpu,
  rate: 1e6 / cpu,
  idle: 10 * 1024 * 1024,
  loaded: 20 * 1024 * 1024,
  startedIn: 5,
  latency:
    p99 === null
      ? null
      : {
          p50: p99 / 2,
          p99,
          p999: p99 * 2,
          most: p99 * 3,
          late: 0.1,
          requests: 9,
          refused: 0,
          failed: 0,
          rate: 3,
        },
})

t.test('medians and ratios', async (t) => {
  t.equal(summaryOf([]), null)
  const summary = summaryOf([sample(30, 3), sample(10, 1), sample(20, 2)])
  t.match(summary, { cpu: 20, spread: [10, 30], latency: [1, 2, 4] })
  t.equal(summaryOf([sample(30)])?.latency, null)
  const result = (...cpus: number[]) => ({
    peer: 'a',
    workload: 'b',
    samples: cpus.map((cpu) => sample(cpu)),
    failures: [],
  })
  t.equal(ratioOf(result(10, 100, 1000), result(20, 100, 500)), 1, 'of the same round, not of the medians')
  t.equal(ratioOf(result(), result(1)), null)
  t.equal(ratioOf(undefined, result(1)), null)
})

t.test('slower: by more than the threshold in almost all rounds', async (t) => {
  const verdict = (...ratios: number[]) => comparisonOf('a', ratios, 1.05).verdict
  t.equal(verdict(1.1, 1.12, 1.08, 1.1, 1.2, 1.06), 'slower')
  t.equal(verdict(1.04, 1.03, 1.02, 1.04, 1.01, 0.99), 'not slower', 'by less')
  t.equal(verdict(0.9, 0.95, 1.06, 1.3, 1.4, 1.2), 'undecided', 'within the spread')
  t.equal(verdict(0.8, 0.9, 0.7, 0.8, 0.9, 0.7), 'not slower', 'faster')
})

t.test('the interval of a median', async (t) => {
  const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1)
  t.same(medianInterval(upTo(6)), [1, 6], '97 %')
  t.same(medianInterval(upTo(12)), [3, 10], '96 %')
  t.same(medianInterval(upTo(100)), [41, 60], '95 %')
  t.same(medianInterval([7]), [7, 7])
})

const measured: Measured = {
  machine: '2 cores, Node.js 26.0.0, 2026-01-01',
  quick: false,
  rounds: 3,
  upstream: 'nginx',
  load: [0.1, 2],
  peers,
  workloads: workloads.filter(({ name }) => name === 'one-token' || name === 'api-keys'),
  table: 'one-token',
  results: [
    { peer: 'seatgate', workload: 'one-token', samples: [sample(20, 1), sample(22, 2)], failures: [] },
    { peer: 'haproxy-jwt', workload: 'one-token', samples: [sample(19, 1)], failures: ['it\nfailed'] },
    { peer: 'nginx', workload: 'one-token', samples: [], failures: ['none'] },
    { peer: 'seatgate', workload: 'api-keys', samples: [sample(25)], failures: [] },
  ],
  left: ['Caddy: not installed'],
  turns: [
    { workload: 'one-token', peer: 'seatgate', cpu: 40, ratio: 1, low: 1, high: 1, turns: 36 },
    { workload: 'one-token', peer: 'haproxy-jwt', cpu: 41, ratio: 0.97, low: 0.94, high: 1.02, turns: 36 },
  ],
  floods: [],
  neighbours: [],
  stages: [{ label: 'decide', nanoseconds: 81.4 }],
  curves: {
    curves: [{ label: 'routes', points: [10, 1000].map((size) => ({ size, nanoseconds: 400 })) }],
    memory: [{ label: 'a Seat', bytes: 700.2 }],
  },
}

t.test('the report: every row of a table has as many cells as its head', async (t) => {
  const text = report(measured)
  const tables = text.split('\n\n').filter((block) => block.startsWith('|'))
  t.equal(tables.length, 6)
  for (const table of tables) {
    const cells = table.split('\n').map((row) => row.split('|').length)
    t.equal(new Set(cells).size, 1, table)
  }
  t.match(text, /\| 1\.05 \|/, 'the ratio to the one peer that was measured in the same round')
  t.match(text, '| 41.0 µs | 0.97 | 0.94 to 1.02 | 1.10 |')
  t.match(text, 'nginx, one-token: none')
  t.match(text, 'Caddy: not installed')
  t.notMatch(text, 'NaN')
  t.notMatch(text, 'is warm after')
})

t.test('the drawings are well-formed, and have the measured figures', async (t) => {
  const drawing = picture(measured)
  wellFormed(t, drawing)
  t.match(drawing, '&lt;seatgate> &amp; &quot;co&quot;')
  t.match(drawing, '21.0')
  t.notMatch(drawing, 'nginx', 'a peer without samples has no bar')
  if (measured.curves !== null) wellFormed(t, curveDrawing(measured.curves, measured.machine))
})

/** Elements are closed in order, no attribute has an invalid number, and no bare ampersand is left. */
function wellFormed(t: Test, text: string): void {
  const open: string[] = []
  for (const [, close, name = '', alone] of text.matchAll(/<(\/?)(\w+)[^<>]*?(\/?)>/g)) {
    if (close === '/') t.equal(open.pop(), name)
    else if (alone !== '/') open.push(name)
  }
  t.same(open, [])
  t.notMatch(text, /NaN|Infinity|undefined/)
  t.notMatch(text, /&(?!amp;|lt;|quot;)/)
}
