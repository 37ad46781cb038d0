/**
 * `npm run release:check`: tries what a release promises on clean clones of HEAD, and lists each step as ok, failed or not run
 * with the reason. docs/versions.md says what a version promises.
 */

import { parseArgs } from 'node:util'
import { statusOf, type Step } from './step.ts'
import { revision } from './document-steps.ts'
import { runSteps, STEPS } from './steps.ts'

const USAGE = `usage: npm run release:check -- [--strict] [--only STEP,…] [--json] [--list]

Tries what a release promises, on clean clones of HEAD in a temporary folder.

options:
  --strict      exits with 3 if a step could not run
  --only STEPS  runs these steps, separated by commas
  --json        prints the results as JSON
  --list        prints the names of the steps
  --help        prints this text

exit codes:
  0  no step failed
  1  a step failed
  2  the command line is invalid
  3  with --strict: a step could not run, and none failed`

const options = readOptions()
if (options.list) for (const [name, { does }] of STEPS) console.log(`${name.padEnd(10)} ${does}`)
else process.exitCode = await check()

async function check(): Promise<number> {
  const before = performance.now()
  const subject = await revision()
  if (!options.json) console.log(subject)
  const results: Step[] = []
  for await (const result of runSteps(options.only)) {
    results.push(result)
    if (!options.json) console.log(lineOf(result))
  }
  const seconds = Math.round((performance.now() - before) / 1000)
  const counts = (['ok', 'failed', 'not run'] as const).map(
    (result) => `${results.filter((each) => each.result === result).length} ${result}`,
  )
  if (options.json) console.log(JSON.stringify({ subject, seconds, steps: results }, null, 2))
  else console.log(`${counts.join(', ')} in ${seconds} s`)
  return statusOf(results, options.strict)
}

function lineOf({ name, result, detail }: Step): string {
  return `${name.padEnd(10)} ${result.padEnd(7)} ${detail.replaceAll('\n', '\n  ')}`
}

function readOptions(): { strict: boolean; json: boolean; list: boolean; only: readonly string[] } {
  const flag = { type: 'boolean', default: false } as const
  try {
    const { values } = parseArgs({
      options: { strict: flag, json: flag, list: flag, help: flag, only: { type: 'string' } },
    })
    if (values.help) {
      console.log(USAGE)
      process.exit(0)
    }
    const only = values.only?.split(',') ?? [...STEPS.keys()]
    const unknown = only.find((name) => !STEPS.has(name))
    if (unknown !== undefined)
      throw new Error(`there is no step "${unknown}": ${[...STEPS.keys()].join(', ')}`)
    return { ...values, only }
  } catch (error) {
    console.error(`release:check: ${error instanceof Error ? error.message : String(error)}\n${USAGE}`)
    process.exit(2)
  }
}
