/** The mixed workload: its shares, and the same sequence with and without API keys. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { makeCertificate } from '../../bench/certificate.ts'
import { mixedRequests } from '../../bench/mixed/requests.ts'
import { NEW_TOKEN, plannedOf } from '../../bench/requests.ts'
import { serverFolder } from '../support/servers/folder.ts'

const folder = serverFolder(t, 'requests')

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
