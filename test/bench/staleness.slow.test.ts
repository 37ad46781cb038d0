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

t.test('an unknown peer', async (t) => {
  const args = ['bench/staleness.ts', '--only', 'none']
  await t.rejects(promisify(execFile)(process.execPath, args), { code: 2, stderr: /there are seatgate,/ })
})
