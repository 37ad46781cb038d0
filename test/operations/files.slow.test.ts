/** Enough file descriptors: no warning. */

import t from 'tap'
import { OperatedGateway } from './gateway.ts'
import { startService } from './service.ts'

t.test('no warning when the limit is high enough', async (t) => {
  const { url } = await startService(t, 'main')
  const gateway = await OperatedGateway.start(t, {
    targets: [url],
    upstream: ['connections: 16'],
    top: ['limits: { connections: 100 }'],
  })
  const warnings = gateway.remarks.filter(({ level, msg }) => level === 'warn' && /ulimit/.test(`${msg}`))
  t.same(warnings, [])
})
