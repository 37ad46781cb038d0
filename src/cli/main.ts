/** The process of `seatgate`: its arguments, its standard streams, its exit code. */

import { createInterface } from 'node:readline/promises'
import { buffer } from 'node:stream/consumers'
import { OutputFailed, type Terminal } from './command.ts'
import { runCommandLine } from './command-line.ts'
import { COLUMNS } from './screen.ts'
import { ignore } from '../lib/ignore.ts'

const { argv, env, exit } = process
let abandoned = false

const terminal: Terminal = {
  env,
  columns: process.stdout.columns || COLUMNS,
  print: (line) => written(process.stdout, line),
  readInput: () => buffer(process.stdin),
  ask: async (question) => (process.stdin.isTTY ? answerTo(question) : null),
  printError: (line) => void written(process.stderr, line).catch(() => {}),
  abandonOutput: () => {
    abandoned = true
  },
}

process.exitCode = await runCommandLine(argv.slice(2), terminal)
if (abandoned) exit()

async function answerTo(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return await lines.question(question)
  } catch (cause) {
    if (!(cause instanceof Error) || cause.name !== 'AbortError') throw cause
    // Ctrl-C or Ctrl-D: the command says what it has not done.
    process.stderr.write('\n')
    return ''
  } finally {
    lines.close()
  }
}

function written(stream: NodeJS.WriteStream, line: string): Promise<void> {
  // The callback of each write gets its failure. Without a listener, the event would end the process with a
  // stack.
  if (!stream.listeners('error').includes(ignore)) stream.on('error', ignore)
  return new Promise((resolve, reject) => {
    stream.write(`${line}\n`, (error) => (error ? reject(new OutputFailed(error)) : resolve()))
  })
}
