/** A gateway in a process of its own, as an operator would start it, and what it costs: CPU and memory from /proc. */

import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openStore, type Store } from '../seats-admin/index.ts'
import { isRefusal } from '../seats-admin/model/refusal.ts'
import { mintToken } from '../src/authn/token.ts'
import { loadConfig } from '../src/config/load.ts'

const MAIN = fileURLToPath(new URL('../src/cli/seatgate.js', import.meta.url))
const TENANT = 'acme'
/** Clock ticks a second in /proc/PID/stat: 100 on every Linux that Node.js runs on. */
const TICKS = 100

export interface Setup {
  readonly upstream: string
  /** Entries of the table besides the two measured. */
  readonly routes?: number
  /** Seats in the store besides the one used. */
  readonly seats?: number
}

export class GatewayProcess {
  readonly #child: ChildProcess
  readonly #folder: string
  readonly url: string
  readonly token: string
  /** Milliseconds from the start of the process to connections accepted. */
  readonly startedIn: number

  private constructor(child: ChildProcess, folder: string, url: string, token: string, startedIn: number) {
    this.#child = child
    this.#folder = folder
    this.url = url
    this.token = token
    this.startedIn = startedIn
  }

  static async start(setup: Setup): Promise<GatewayProcess> {
    const folder = mkdtempSync(join(tmpdir(), 'seatgate-bench-'))
    const env = { ...process.env, ACME_SECRET: randomBytes(32).toString('hex') }
    const file = writeConfiguration(folder, setup)
    const config = await loadConfig(file, env)
    const tenant = config.tenants.get(TENANT)
    if (tenant === undefined) throw new Error('no tenant')
    const store = await openStore(config.store)
    await fill(store, setup.seats ?? 0)
    await store.close()
    const token = await mintToken(tenant, { sub: 'bench', hashPerm: ['s1:Bench'] }, Date.now())
    const begun = performance.now()
    const child = spawn(process.execPath, [MAIN, 'start', '--config', file], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const url = await listening(child)
    return new GatewayProcess(child, folder, url, token, performance.now() - begun)
  }

  /** Microseconds of CPU, user and system, that the process has used so far. */
  cpu(): number {
    const fields = readFileSync(`/proc/${this.#child.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    return ((Number(fields[11]) + Number(fields[12])) / TICKS) * 1e6
  }

  /** Resident memory in MiB. */
  memory(): number {
    const line = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${this.#child.pid}/status`, 'utf8'))
    return Number(line?.[1] ?? 0) / 1024
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once('exit', resolve))
    this.#child.kill('SIGTERM')
    await ended
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

function writeConfiguration(folder: string, { upstream, routes = 0 }: Setup): string {
  mkdirSync(join(folder, 'routes'))
  const more = Array.from(
    { length: routes },
    (_, i) => `  GET /v1/service${i % 100}/thing${i}/{id}: trainings:list\n`,
  )
  const table = `upstream: main\nroutes:\n  GET /v1/trainings/{id}: trainings:list\n  GET /open/{id}: public\n${more.join('')}`
  writeFileSync(join(folder, 'routes', 'main.yaml'), table)
  const file = join(folder, 'gateway.config.yaml')
  writeFileSync(
    file,
    `listen: 127.0.0.1:0
ops: 127.0.0.1:0
store: sqlite:./seatgate.db
tenants: { ${TENANT}: { token: { secrets: ["\${ACME_SECRET}"] } } }
upstreams: { main: { targets: ["${upstream}"] } }
routes: [routes/*.yaml]
`,
  )
  return file
}

async function fill(store: Store, seats: number): Promise<void> {
  const scope = { space: 'admin', admin: true, all: true, permissions: ['*'] }
  const writer = () => ({ tenant: TENANT, by: 'bench', scope, now: Date.now() })
  const make = async (name: string) => {
    const made = await store.createSeat(writer(), {
      name,
      spaces: ['s1', 's2'],
      permissions: ['trainings:list', 'trainings:read'],
    })
    if (isRefusal(made)) throw new Error(made.detail)
  }
  await make('Bench')
  for (let done = 0; done < seats; done += 500) {
    await Promise.all(Array.from({ length: Math.min(500, seats - done) }, (_, i) => make(`Seat ${done + i}`)))
  }
}

/** The front door's URL, from the line that `start` prints once it accepts. What it prints later is thrown away. */
function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const look = (chunk: Buffer) => {
      text += chunk
      const found = /listening on (http:\/\/[^ ]+) \(front door\)/.exec(text)
      if (found?.[1] === undefined) return
      child.stdout?.off('data', look).resume()
      resolve(found[1])
    }
    child.stdout?.on('data', look)
    child.once('exit', (code) => reject(new Error(`the gateway ended with ${code}`)))
  })
}
