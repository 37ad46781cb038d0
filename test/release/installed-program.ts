/** The step that runs the installed package: the commands of the first minutes, and the calls of the demo. */

import assert from 'node:assert/strict'
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { startTrainingsService } from '../demo/trainings-service.ts'
import { GatewayProcess } from '../support/gateway-process.ts'
import { run } from './command.ts'
import { demoCalls } from './demo-calls.ts'
import type { Workshop } from './workshop.ts'

export async function installedProgram(workshop: Workshop): Promise<string> {
  await using stack = new AsyncDisposableStack()
  const t = { teardown: (end: () => unknown) => stack.defer(async () => void (await end())) }
  const command = join(await workshop.installation(), 'seatgate/src/cli/seatgate.js')
  const { clone } = await workshop.build(0)
  const folder = join(workshop.folder, 'demo')
  mkdirSync(folder)
  for (const each of ['gateway.config.yaml', 'routes'])
    cpSync(join(clone, each), join(folder, each), { recursive: true })
  const trainings = await startTrainingsService()
  t.teardown(() => trainings.close())
  const env = {
    SEATGATE_LISTEN: '127.0.0.1:0',
    SEATGATE_OPS: '127.0.0.1:0',
    SEATGATE_STORE: 'sqlite:./seatgate.db',
    ACME_TOKEN_SECRET: 'a secret of more than thirty-two bytes, for tests',
    TRAININGS_URL: trainings.url,
  }
  const seatgate = (...args: string[]) => run(folder, [process.execPath, command, ...args], env)
  assert.match(await seatgate('check'), /no faults/)
  const { key } = JSON.parse(await seatgate('bootstrap', '--tenant', 'acme', '--json'))
  const gateway = await GatewayProcess.launch(t, { folder, env, program: [command] })
  await gateway.listens()
  const tokenOf = async (sub: string, ...seats: string[]) => {
    const options = seats.flatMap((seat) => ['--seat', seat])
    return (await seatgate('token', '--tenant', 'acme', '--sub', sub, ...options)).trim()
  }
  const answers = await demoCalls({ url: gateway.origin, key, tokenOf })
  assert.match(await (await fetch(`${gateway.ops}/metrics`)).text(), /^process_cpu_seconds_total /m)
  await gateway.end('SIGTERM')
  return `${(await seatgate('--version')).trim()}: ${answers}`
}
