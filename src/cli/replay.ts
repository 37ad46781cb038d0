/** `seatgate replay`: which requests of a log get another answer with these tables and Seats. */

import { Replay } from '../access/replay/replayed-log.ts'
import { CONFIG, JSON_OUTPUT, SEATS_FILE } from './arguments.ts'
import { CommandFailed, defineCommand } from './command.ts'
import { findLogs, LOGS } from './replay/log-files.ts'
import { Progress } from './replay/progress.ts'
import { INTERRUPTED, readAll } from './replay/read-all.ts'
import { replayAsJson, replayAsMarkdown, replayAsText } from './replay/replay-output.ts'
import { withSubject } from './replay/subject.ts'

export const replay = defineCommand({
  name: 'replay',
  summary: 'Decides the requests in access logs again, and shows which ones now get a different answer.',
  details:
    'Credentials are not verified again: a caller holds the Seats that the log line lists, as they are now. Lines that do not contain enough information are counted by reason. With --seats, environment variables are not needed.',
  positionals: [LOGS],
  options: {
    config: CONFIG,
    seats: SEATS_FILE,
    json: JSON_OUTPUT,
    markdown: { description: 'prints Markdown for a pull request' },
  },
  exits: {
    0: 'no answer changes',
    1: 'a log cannot be read, no line could be judged, the configuration has faults, or the store cannot be read',
    3: 'an answer changes',
  },
  example: 'seatgate replay access.log.1.gz access.log --config new/gateway.config.yaml',
  run: async ({ values, positionals }, terminal) => {
    const sizes = await findLogs(positionals)
    return withSubject(values, terminal, async (subject) => {
      const run = new Replay(subject)
      const ended = await readAll(run, positionals, new Progress(process.stderr, sizes), terminal)
      if (ended === 'interrupted') return INTERRUPTED
      const result = run.result()
      const print = values.json ? replayAsJson : values.markdown ? replayAsMarkdown : replayAsText
      await terminal.print(print(result))
      if (ended === 'failed') return 1
      const { requests, same, changed } = result
      if (same + changed === 0) {
        const none = requests === 0 ? 'there is no request in the logs' : 'no line could be judged'
        throw new CommandFailed(`${none}: nothing was checked`)
      }
      return changed === 0 ? 0 : CHANGED
    })
  },
})

/** The exit code if an answer changes. */
const CHANGED = 3
