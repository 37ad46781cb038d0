/** Lists of requests: how the load programs read them, and the planned statuses. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
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
