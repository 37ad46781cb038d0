/** Addresses of IPv6 on a kernel without it. */

import { fileURLToPath } from 'node:url'
import t from 'tap'
import { GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'

const through = ['python3', fileURLToPath(new URL('without-ipv6.py', import.meta.url))]
const skip = process.platform === 'linux' ? false : 'seccomp is of Linux'

t.test('[::] is every address of IPv4', { skip }, async (t) => {
  for (const top of [[], ['workers: 2']]) {
    const gateway = await startGatewayProcess(t, {
      through,
      listen: "'[::]:0'",
      ops: "'[::]:0'",
      top,
      routes: ['GET /: public'],
    })
    const { port } = new URL(gateway.ops)
    t.equal((await fetch(`http://127.0.0.1:${port}/livez`)).status, 200)
    t.equal((await fetch(`http://127.0.0.1:${gateway.port}/`)).status, 502, 'the upstream is not there')
    await gateway.end()
  }
})

t.test('another address of IPv6 is a fault', { skip }, async (t) => {
  const gateway = await GatewayProcess.launch(t, { through, listen: "'[::1]:0'" })
  t.equal(await gateway.ended, 1)
  t.match(gateway.log, /this machine has no IPv6, which ::1 needs \(EAFNOSUPPORT\)/)
})
