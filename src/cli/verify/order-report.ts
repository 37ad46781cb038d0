/** Whether an order explains every answer in a tenant's history, and a contradiction as text. Pure. */

import { checkOrder, type Contradiction, contradictionIn, MOST_VISITS, partsOf } from './linearizability.ts'
import { dueText, tenantModelOf, type TenantState } from './tenant-model.ts'
import { type Operation, operationsOf, operationText, type TenantOperation } from './tenant-operations.ts'

/** The most operations in a text. */
const SHOWN = 16

export type Disorder = Contradiction<TenantState, TenantOperation>

interface OrderReport {
  /** The number of operations with an answer, and of those without one that may have taken effect. */
  readonly operations: number
  /** The number of groups of records that share no operation. */
  readonly parts: number
  /** The number of operations in parts that are too wide for the search. */
  readonly unchecked: number
  readonly disorders: readonly Disorder[]
}

export function checkHistory(history: readonly Operation[], most = MOST_VISITS): OrderReport {
  const operations = operationsOf(history)
  const parts = partsOf(operations)
  const model = tenantModelOf(operations)
  const disorders: Disorder[] = []
  let unchecked = 0
  for (const part of parts) {
    const { verdict } = checkOrder(part, model, { most })
    if (verdict === 'not checked') unchecked += part.length
    if (verdict === 'unexplained') disorders.push(contradictionIn(part, model))
  }
  return { operations: operations.length, parts: parts.length, unchecked, disorders }
}

/** The possible answers. */
export function possibleAnswers({ operation, states }: Disorder): string[] {
  return [...new Set(states.map((state) => dueText(state, operation)))].toSorted()
}

/** A contradiction as text. @param zero the start of the run */
export function disorderText(disorder: Disorder, zero = 0): string {
  const { operation, operations } = disorder
  const others = operations.filter((each) => each !== operation)
  const newest = new Set(others.toSorted((one, other) => one.began - other.began).slice(-SHOWN))
  const lines = operations
    .filter((each) => each === operation || newest.has(each))
    .map((each) => `${each === operation ? '>' : ' '} ${operationText(each, zero)}`)
  const possible = possibleAnswers(disorder)
  return [
    'no order of these operations explains the marked answer, which is the first to contradict the others (ms since the start):',
    ...(others.length > newest.size ? [`  … ${others.length - newest.size} earlier operations`] : []),
    ...lines,
    possible.length === 0
      ? '  no state fits between the operations before and after it'
      : `  it could have been: ${possible.join(', or ')}`,
  ].join('\n')
}
