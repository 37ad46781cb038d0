/** The bench of staleness finds what a cache that only expires keeps after a change. */

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'

t.test('nginx keeps decisions for a second', async (t) => {
  const args = ['bench/staleness.ts', '--seconds', '10', '--only', 'nginx-cache-1s']
  const { stdout } = await promisify(execFile)(process.execPath, args)
  const [, , row = ''] = stdout.split('\n')
  const [, label, reads, stale, longest] = row.split('|').map((cell) => cell.trim())
  t.match(label, /^nginx, auth_request with proxy_cache/)
  t.ok(Number(reads) > 50, `reads: ${reads}`)
  t.ok(Number(stale) > 0 && Number(longest) > 0, `stale: ${stale}, for up to ${longest} ms`)
})

t.test('a route changes by a reload of nginx, by set map of HAProxy, and by a push', async (t) => {
  const only = 'nginx-reload,haproxy-runtime,seatgate-tables'
  const args = ['bench/staleness.ts', '--seconds', '6', '--only', only]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  const [, , ...rows] = stdout.trim().split('\n')
  const cells = rows.map((row) => row.split('|').map((cell) => cell.trim()))
  t.match(
    cells.map(([, label]) => label),
    [/^Seatgate, tables/, /^nginx -s reload/, /^HAProxy, set map/],
  )
  for (const [, label = '', reads] of cells) t.ok(Number(reads) > 30, `${label}: ${reads} reads`)
  t.equal(cells[0]?.[3], '0', 'no read after the answer is by the former tables')
})

t.test('an unknown peer', async (t) => {
  const args = ['bench/staleness.ts', '--only', 'none']
  await t.rejects(promisify(execFile)(process.execPath, args), { code: 2, stderr: /there are seatgate,/ })
})
