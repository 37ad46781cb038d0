/** `seatgate start`: runs the gateway until SIGTERM or SIGINT; reloads on SIGHUP and when a file changes. */

import { readFileSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { performance } from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'
import { startGateway } from '../composition.ts'
import type { Config } from '../config/config.ts'
import { tuneGarbageCollection } from '../runtime/garbage-collection.ts'
import type { Gateway } from '../runtime/gateway.ts'
import { ServiceManager } from '../runtime/service-manager.ts'
import { StartupTimeout } from '../runtime/store-retries.ts'
import {
  fileShortage,
  lostLog,
  nodeShortage,
  refuseWrongClock,
} from '../runtime/surroundings/machine-faults.ts'
import { type Log, logUnhandledRejections, openLog } from '../telemetry/logger.ts'
import { CONFIG } from './arguments.ts'
import { CommandFailed, defineCommand } from './command.ts'
import { type Loaded, loadWithTables } from './load-tables.ts'
import { type LoadedConfig, Reloading } from './reloading.ts'
import { tablesWith } from './table-builder.ts'
import { ignore } from '../lib/ignore.ts'

export const start = defineCommand({
  name: 'start',
  summary: 'Runs the gateway until SIGTERM or SIGINT.',
  details:
    'It logs to standard output, with one line for each listener as soon as it accepts connections. It reloads the configuration on SIGHUP and whenever one of its files changes. SIGUSR1 and SIGUSR2 are logged and have no effect.',
  options: {
    config: CONFIG,
    pretty: { description: 'prints readable logs, as on a terminal, instead of JSON lines' },
  },
  exits: {
    0: 'a signal stopped the gateway',
    1: 'the gateway could not start, or another gateway took over its store',
  },
  example: 'seatgate start --config my/gateway.config.yaml',
  run: async ({ values }, terminal) => {
    const first = await loadWithTables(values.config, terminal.env)
    refuseWrongClock(first.config, Date.now())
    const log = await openLog({ pretty: values.pretty ?? process.stdout.isTTY === true })
    const load = async () => logWarnings(await loadWithTables(values.config, terminal.env), log)
    try {
      const listening = () => {
        const failure = log.failure()
        if (failure !== null) terminal.printError(`seatgate start: ${lostLog(failure)}`)
      }
      await runGateway(logWarnings(first, log), log, load, { listening, env: terminal.env })
    } catch (cause) {
      // An attempt to open the store is in flight, and would keep the process alive.
      if (cause instanceof StartupTimeout) terminal.abandonOutput()
      throw cause
    } finally {
      if (!(await log.close())) terminal.abandonOutput()
    }
  },
})

/** Logs the warnings of a configuration. */
function logWarnings(loaded: Loaded, { logger }: Log): LoadedConfig {
  for (const { place, message } of loaded.fileWarnings) logger.warn({ file: place.file }, message)
  for (const warning of loaded.config.openTelemetry.warnings) logger.warn(warning)
  return { config: loaded.config, withTables: tablesWith(loaded) }
}

/** The recipients of the gateway's states. */
interface Observers {
  /** A function that is called once connections are accepted. */
  readonly listening?: (addresses: Gateway['addresses']) => void
  /** The environment, which may name systemd's socket, and the parent whose end also ends the gateway. */
  readonly env?: NodeJS.ProcessEnv
}

/** Runs the gateway. Resolves when a signal has ended it. @param load loads the configuration again */
export async function runGateway(
  first: LoadedConfig,
  log: Log,
  load: () => Promise<LoadedConfig>,
  { listening = ignore, env = {} }: Observers = {},
): Promise<void> {
  logUnhandledRejections(log.logger)
  // Without a listener, SIGHUP would end the process during the start.
  process.on('SIGHUP', ignore)
  for (const signal of ['SIGUSR1', 'SIGUSR2'] as const)
    process.on(signal, () => log.logger.info({ signal }, 'the signal has no effect'))
  const terminated = termination(env)
  const service = new ServiceManager(env, log)
  service.starting(first.config.startupTimeout)
  const { config } = first
  const reloading = new Reloading(first, {
    log,
    load,
    service,
    activated: (next) => warnOfShortage(next, log),
  })
  const gateway = await Promise.race([startGateway(config, log, undefined, reloading), terminated])
  if (typeof gateway === 'string') {
    // The process ends at once: nothing was served, and an interrupted start is safe.
    log.logger.info(cause(gateway), 'ended before listening')
    await log.close()
    process.exit(0)
  }
  const { fronts, ops, decision } = gateway.addresses
  const urls = fronts.map((front) => `${front.scheme}://${address(front)}`)
  for (const url of urls) log.logger.info({ listener: 'front' }, `listening on ${url} (front door)`)
  log.logger.info({ listener: 'ops' }, `listening on http://${address(ops)} (/livez /readyz /metrics)`)
  if (decision !== null)
    log.logger.info(
      { listener: 'decision' },
      `listening on http://${address(decision)} (decisions for other proxies)`,
    )
  warnOfShortage(config, log)
  warnOfNode(log)
  log.flush()
  listening(gateway.addresses)
  tuneGarbageCollection()
  // Node.js writes the cache at exit, which a kill -9 prevents.
  flushCompileCache()
  reloading.start()
  service.ready(`listening on ${urls.join(', ')}`)
  service.watch(() => gateway.workers > 0)
  const end = await Promise.race([terminated, gateway.superseded])
  if (typeof end !== 'string') return endSuperseded(end, gateway, reloading, log)
  log.logger.info(cause(end), 'draining')
  await reloading.close()
  const { drain, drainDelay } = reloading.config
  const stopping = service.stopping(drainDelay + drain)
  await gateway.close(drain, drainDelay)
  await stopping
  log.logger.info('ended')
}

/** Ends without a drain: requests in flight may depend on state that is no longer valid. */
async function endSuperseded(
  cause: Error,
  gateway: Gateway,
  reloading: Reloading,
  { logger }: Log,
): Promise<never> {
  logger.error({ cause: cause.message }, 'ending: another gateway has taken over the store')
  await reloading.close()
  await gateway.close(0)
  throw new CommandFailed(cause.message)
}

function address({ address: host, port, family }: { address: string; port: number; family: string }): string {
  return family === 'IPv6' ? `[${host}]:${port}` : `${host}:${port}`
}

/** The time in ms in which a repeated signal is the same one: npm passes on Ctrl-C, as the terminal does. */
const SAME_SIGNAL = 1000

/** The time in ms between two checks of the parent. */
const LOOK_EVERY = 1000

/** What ends the gateway: a signal, or the end of the npm that started it. */
type End = NodeJS.Signals | 'npm'

function cause(end: End) {
  return end === 'npm' ? { cause: 'the npm that started the gateway has ended' } : { signal: end }
}

/**
 * Waits for the end. A second signal ends the process at once; npm's end is no signal, as Ctrl-C reaches npm
 * too.
 *
 * @param parent the process id of npm, its shell or `seatgate.js`, whose end also ends the gateway;
 *   undefined: none
 */
function termination({ SEATGATE_PARENT: parent }: NodeJS.ProcessEnv): Promise<End> {
  return new Promise((resolve) => {
    const look = () => process.ppid === Number(parent) || resolve('npm')
    if (parent !== undefined) setInterval(look, LOOK_EVERY).unref()
    let signalledAt: number | null = null
    const onSignal = (signal: NodeJS.Signals) => {
      if (signalledAt !== null && performance.now() - signalledAt > SAME_SIGNAL) process.exit(1)
      signalledAt ??= performance.now()
      resolve(signal)
    }
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, onSignal)
  })
}

type Needs = Pick<Config, 'limits' | 'upstreams' | 'memory' | 'sources'>

/** Compares what the configuration may need of a process with what the process may use. */
function warnOfShortage(needs: Needs, { logger }: Log): void {
  const [files, filesNeeded] = [openFilesAllowed(), openFilesNeeded(needs)]
  if (files !== null && files < filesNeeded)
    logger.warn(
      { open_files: files, needed: filesNeeded },
      fileShortage(needs.sources.connections, files, filesNeeded),
    )
  const { tokens, apiKeys, seats } = needs.memory
  // V8 derives its limit from the memory of the machine or the container.
  const heap = mebibytes(getHeapStatistics().heap_size_limit)
  const cached = mebibytes(tokens + apiKeys + seats)
  if (heap / 2 < cached)
    logger.warn(
      { heap_mib: heap, remembered_mib: cached },
      `memory may take ${cached} MiB of a process, more than half of its heap limit of ${heap} MiB: lower memory, or set NODE_OPTIONS=--max-old-space-size=${3 * cached}`,
    )
}

function warnOfNode({ logger }: Log): void {
  const shortage = nodeShortage()
  if (shortage !== null) logger.warn({ node: process.version, missing: shortage.missing }, shortage.message)
}

/** The files of store, Redis, logs, listeners and runtime; and the connections that are being refused. */
const OWN_FILES = 100 + 256

/** The soft limit of open files, which Node.js raises to the hard one; null if it is unknown. */
function openFilesAllowed(): number | null {
  try {
    const limit = /^Max open files +(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    if (limit === undefined) return null
    return limit === 'unlimited' ? Infinity : Number(limit)
  } catch {
    return null
  }
}

function openFilesNeeded({ limits, upstreams }: Needs): number {
  // A WebSocket's connection to its upstream is not counted by the upstream's `connections`.
  let needed = OWN_FILES + limits.connections + limits.lingeringConnections + limits.websockets
  for (const { targets, connections } of upstreams.values()) needed += targets.length * connections
  return needed
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / 1024 ** 2)
}
