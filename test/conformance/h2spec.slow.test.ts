/** h2spec, Summerwind's suite for servers of HTTP/2, against the listener with TLS. */

import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { missing } from '../deploy/programs.ts'
import { startSecured } from '../http2/support.ts'
import { compare } from './page.ts'

const run = promisify(execFile)
const SUITE = /<testsuite [^>]*package="([^"]+)"[^>]*>([^]*?)<\/testsuite>/g
const CASE = /<testcase [^>]*?(?:\/>|>([^]*?)<\/testcase>)/g

t.test('h2spec', { skip: missing('h2spec') }, async (t) => {
  const world = await startSecured(t, { routes: ['GET /: public', 'POST /: public'] })
  const report = join(world.folder, 'h2spec.xml')
  const target = ['--port', `${world.securePort}`, '--tls', '--insecure']
  // Fails if a case does: the report says which.
  await run('h2spec', ['--strict', ...target, '--junit-report', report]).catch(() => {})
  compare(t, 'h2spec', resultsIn(readFileSync(report, 'utf8')))
})

/** By the names that h2spec takes as arguments: package and number. */
function resultsIn(xml: string): Map<string, string | null> {
  const results = new Map<string, string | null>()
  for (const [, suite = '', cases = ''] of xml.matchAll(SUITE))
    for (const [i, [, fault]] of [...cases.matchAll(CASE)].entries())
      results.set(`${suite}/${i + 1}`, fault?.trim() ? fault.replace(/<[^>]*>/g, '').trim() : null)
  return results
}
