/** Asks before a change that takes something away. */

import { CommandFailed, type Terminal } from '../command.ts'

interface Question {
  /** `Delete 2 Seats?` */
  readonly question: string
  /** What the message says where no person is at the terminal: `2 Seats would be deleted`. */
  readonly change: string
}

/** @param yes of `--yes`: it is not asked @throws CommandFailed: nothing is to be written */
export async function confirm(
  { question, change }: Question,
  yes: boolean | undefined,
  terminal: Terminal,
): Promise<void> {
  if (yes === true) return
  const answer = await terminal.ask(`${question} (yes/no) `)
  if (answer === null) throw new CommandFailed(`nothing was written: ${change}, which needs --yes`)
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandFailed('nothing was written')
}
