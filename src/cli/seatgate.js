#!/usr/bin/env node
// The `seatgate` command. Plain JavaScript, because it runs on whatever Node.js the machine has. The package has compiled
// code. A clone has TypeScript, and brings along the Node.js that reads it.

import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import module, { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'

// Of the global object: an import of node:process would open the standard streams.
const { argv, env, execPath, exit, kill, pid, ppid, version } = process

// On SIGUSR1 Node.js would open its debugger to every program of the machine, and SIGUSR2 would end the process.
for (const signal of ['SIGUSR1', 'SIGUSR2']) process.on(signal, () => {})
// Before that line it may have opened it, or be about to.
closeDebugger()
setImmediate(closeDebugger)

/** Milliseconds between two looks at the parent. */
const LOOK_EVERY = 1000
/** What npm runs, as `npx seatgate start` and `npm start` have it. */
const SCRIPT = /^(?:[A-Za-z_]\w*=\S* )*(?:exec )?(?:node )?'?(?:[^\s']*\/)?seatgate(?:\.js)?'?(?: |$)/
const isRunByNpm = SCRIPT.test(env.npm_lifecycle_script ?? '')
// A gateway ends when this process has ended: npm does not pass SIGTERM on through its shell. Nothing else reads it.
if (isRunByNpm) env.SEATGATE_PARENT = String(ppid)
else delete env.SEATGATE_PARENT
// A gateway that a command starts, as the drill of `verify` may, is not npm's: it stays when its shell has ended.
delete env.npm_lifecycle_script

const here = dirname(fileURLToPath(import.meta.url))
const source = join(here, 'main.ts')
const isClone = existsSync(source)
const main = isClone ? source : join(here, '../../dist/src/cli/main.js')

if (isOldNode(isClone ? [24, 12] : [22, 19])) {
  if (isClone) handOver(runtime())
  else fail(`Node.js 22.19 or later is needed, and this is ${version}: install a newer Node.js`)
} else {
  // Types are stripped and code is compiled once, and read from the cache from then on: half the start-up time, and
  // 40 MiB less memory. Threads find the cache by the environment.
  const { directory } = module.enableCompileCache()
  if (directory !== undefined) env.NODE_COMPILE_CACHE ??= dirname(directory)
  // SQLite and globs are experimental in Node.js 22, which it would say on standard error.
  const { emitWarning } = process
  process.emitWarning = (warning, ...of) => {
    if (of[0] !== 'ExperimentalWarning') emitWarning.call(process, warning, ...of)
  }
  // Reading code makes much garbage; a young generation that grew for it would keep 10 MiB for good. `start` lets it grow.
  setFlagsFromString('--semi-space-growth-factor=1')
  await import(main)
}

/** Unless an option of Node.js asked for it. */
function closeDebugger() {
  const inspector = process.getBuiltinModule?.('node:inspector')
  const options = [...process.execArgv, env.NODE_OPTIONS ?? ''].join(' ')
  if (inspector?.url() !== undefined && !/--inspect(?!-port|-publish)/.test(options)) inspector.close()
}

function isOldNode([major, minor]) {
  const [ownMajor, ownMinor] = version.slice(1).split('.').map(Number)
  return ownMajor < major || (ownMajor === major && ownMinor < minor)
}

function fail(message) {
  console.error(`seatgate: ${message}`)
  exit(1)
}

function runtime() {
  try {
    return createRequire(import.meta.url).resolve('node/bin/node')
  } catch {
    return fail('the Node.js runtime of this clone is missing: run "npm ci" first')
  }
}

/**
 * One process in front of another: signals go on to it, and its end is this one's. The end of this process is that of a gateway, and
 * the end of npm, or of its shell, is that of this process.
 */
function handOver(node) {
  const child = spawn(node, ['--disable-sigusr1', main, ...argv.slice(2)], {
    stdio: 'inherit',
    env: { ...env, SEATGATE_PARENT: String(pid) },
  })
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'])
    process.on(signal, () => child.kill(signal))
  if (isRunByNpm) setInterval(() => process.ppid === ppid || exit(), LOOK_EVERY).unref()
  child.on('error', (error) => fail(`${execPath} could not start ${node}: ${error.message}`))
  child.on('exit', (code, signal) => {
    if (signal === null) exit(code ?? 1)
    process.removeAllListeners(signal)
    kill(pid, signal)
  })
}
