/** Decides one request of a log again. */

import { Judge } from '../../access/replay/judge.ts'
import { type LoggedRequest, readLine } from '../../access/replay/logged-request.ts'
import { REASONS } from '../../access/replay/unjudged-reasons.ts'
import type { Decision } from '../../model/decision.ts'
import { CommandFailed, type Terminal } from '../command.ts'
import { findLogs, linesOf } from './log-files.ts'
import { withSubject } from './subject.ts'

/**
 * Decides a logged request with the Seats as they are now.
 *
 * @returns the decision, and the code of the line
 * @throws CommandFailed if the log has no such request, or if its line does not say enough
 */
export async function decideAgain(
  log: string,
  id: string,
  config: string,
  terminal: Terminal,
): Promise<{ readonly logged: string; readonly decision: Decision }> {
  await findLogs([log])
  const request = await findRequest(log, id)
  return withSubject({ config }, terminal, async (subject) => {
    if (request.host === null && subject.tables.table.hosts !== null)
      terminal.printError('note: route tables name hosts, and the line of this request has none')
    const evaluation = await new Judge(subject).evaluate(request)
    if (typeof evaluation === 'string') throw new CommandFailed(`request ${id}: ${REASONS[evaluation]}`)
    return { logged: request.code, decision: evaluation.decision }
  })
}

async function findRequest(log: string, id: string): Promise<LoggedRequest> {
  const field = `"request_id":${JSON.stringify(id)}`
  const signal = new AbortController().signal
  for await (const { lines } of linesOf(log, () => {}, signal))
    for (const line of lines) {
      if (!line.includes(field)) continue
      const request = readLine(line)
      if (typeof request !== 'string') return request
      // Other lines about the request have its id, too.
      if (request !== 'other_line') throw new CommandFailed(`request ${id}: ${REASONS[request]}`)
    }
  throw new CommandFailed(`${log} has no request ${id}`)
}
