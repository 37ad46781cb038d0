/** A gateway in a process of its own, on a temporary folder: what it shows is what operators see. */

import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'

const SEATGATE = fileURLToPath(new URL('../../src/cli/seatgate.js', import.meta.url))

/** With every part that has metrics of its own. Redis is not there, which the gateway does not need for its metrics. */
const CONFIGURATION = `listen: 127.0.0.1:0
ops: 127.0.0.1:0
store: sqlite:./seatgate.db
redis: redis://127.0.0.1:1
tenants:
  acme: { token: { secrets: ["\${ACME_TOKEN_SECRET}"] } }
upstreams:
  trainings: { targets: ["http://127.0.0.1:9"] }
`

/** What `/metrics` of a gateway shows that has just started. */
export async function scrapeNewGateway(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'seatgate-docs-'))
  const file = join(folder, 'gateway.config.yaml')
  await writeFile(file, CONFIGURATION)
  const env = { ...process.env, ACME_TOKEN_SECRET: randomBytes(32).toString('hex') }
  const gateway = spawn(process.execPath, [SEATGATE, 'start', '--config', file], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(gateway, 'exit')
  try {
    const response = await fetch(`${await opsOrigin(gateway.stdout)}/metrics`)
    return await response.text()
  } finally {
    gateway.kill('SIGKILL')
    await ended
    await rm(folder, { recursive: true, force: true })
  }
}

/** From the line that the operators' listener logs. */
async function opsOrigin(output: Readable): Promise<string> {
  for await (const line of createInterface({ input: output })) {
    const found = /(http:\S+) \(\/livez/.exec(line)?.[1]
    if (found !== undefined) return found
  }
  throw new Error('the gateway ended before it listened')
}
