/** Enough file descriptors: no warning. */

import t from 'tap'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { startService } from './service.ts'

t.test('no warning when the limit is high enough', async (t) => {
  const { url } = await startService(t, 'main')
  const gateway = await startGatewayProcess(t, {
    target: url,
    upstream: ['connections: 16'],
    top: ['limits: { connections: 100 }'],
  })
  const warnings = gateway.lines().filter(({ level, msg }) => level === 'warn' && /ulimit/.test(`${msg}`))
  t.same(warnings, [])
})
