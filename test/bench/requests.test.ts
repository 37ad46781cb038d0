/** Lists of requests: how the load programs read them, and the planned statuses. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { makeCertificate } from '../../bench/certificate.ts'
import { mixedRequests } from '../../bench/mixed/requests.ts'
import { readRequests } from '../../bench/read-requests.ts'
import { NEW_TOKEN, plannedOf, writeRequests } from '../../bench/requests.ts'

const folder = mkdtempSync(join(tmpdir(), 'seatgate-requests-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))

t.test('the list repeats, and a new token is used once', async (t) => {
  const requests = writeRequests(
    folder,
    'three',
    [
      { path: '/a', headers: ['Space: s1', `Authorization: Bearer ${NEW_TOKEN}`] },
      { method: 'PUT', path: '/b', headers: [], body: 3, status: 403 },
      { path: '/c', headers: [`Authorization: Bearer ${NEW_TOKEN}`], status: 401 },
    ],
    ['t0', 't1', 't2', 't3', 't4'],
  )
  const reader = readRequests(requests, 0)
  t.same(reader.next().value, {
    method: 'GET',
    path: '/a',
    headers: ['Space: s1', 'Authorization: Bearer t0'],
    body: '',
  })
  t.same(reader.next().value, { method: 'PUT', path: '/b', headers: ['Content-Length: 3'], body: 'xxx' })
  t.match(reader.next().value, { path: '/c', headers: ['Authorization: Bearer t1'] })
  t.match(reader.next().value, { path: '/a', headers: ['Space: s1', 'Authorization: Bearer t2'] })
  const later = readRequests(requests, 5)
  t.match(later.next().value, { path: '/c', headers: ['Authorization: Bearer t3'] })
  t.match(later.next().value, { path: '/a', headers: ['Space: s1', 'Authorization: Bearer t4'] })
  later.next()
  t.throws(() => later.next(), /not enough/)
  t.equal(plannedOf(requests, 403, 0, 3), 1)
  t.equal(plannedOf(requests, 403, 2, 2), 0)
  t.equal(plannedOf(requests, 401, 2, 4), 2)
  t.equal(plannedOf(requests, 200, 1, 300), 100)
})

t.test('the mixed workload: its shares, and the same sequence with and without API keys', async (t) => {
  const world = {
    folder,
    secret: 'a'.repeat(64),
    store: '',
    certificate: makeCertificate(folder),
    apiKeys: Array.from({ length: 100 }, (_, i) => `sk_${i}`),
  }
  const [keys, tokens] = [true, false].map((apiKeys) =>
    mixedRequests(world, join(folder, String(apiKeys)), apiKeys),
  )
  if (keys === undefined || tokens === undefined) throw new Error('no requests')
  const linesOf = (file: string) => readFileSync(file, 'utf8').trimEnd().split('\n')
  const [lines, others] = [linesOf(keys.list), linesOf(tokens.list)]
  const share = (has: (line: string) => boolean) => lines.filter(has).length / lines.length
  const planned = (status: 401 | 403) => plannedOf(keys, status, 0, lines.length) / lines.length
  const near = (found: number, wanted: number) =>
    t.ok(Math.abs(found - wanted) < wanted / 4, `${found}, wanted ${wanted}`)
  near(planned(401), 0.01)
  near(planned(403), 0.01)
  near(
    share((line) => line.includes(NEW_TOKEN)),
    0.01,
  )
  near(
    share((line) => /^(?:POST|PUT|PATCH)\t\S+\t[1-9]/.test(line)),
    0.05,
  )
  near(
    share((line) => line.includes('X-Api-Key: sk_')),
    0.1,
  )
  t.same(keys.statuses, tokens.statuses)
  t.notMatch(others.join('\n'), /api-key/i)
  const withoutCredential = (line: string) => line.replace(/\t(?:x-api-key|authorization): [^\t]+/i, '')
  t.same(lines.map(withoutCredential), others.map(withoutCredential))
  const routes = new Set(
    lines.map((line) =>
      line
        .split('\t', 2)
        .join(' ')
        .replace(/\/\d+(?:\?.*)?$/, ''),
    ),
  )
  t.equal(routes.size, 300)
  const credentials = new Set(lines.map((line) => /\tauthorization: Bearer ([^\t]+)/.exec(line)?.[1]))
  t.ok(credentials.size > 5000)
  const alike = lines.filter((line, i) => line.split('\t')[1] === lines[i - 1]?.split('\t')[1])
  t.ok(alike.length < 5, 'consecutive requests are almost always different')
})
