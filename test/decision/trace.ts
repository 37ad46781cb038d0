import { DecisionReads } from '../../src/decision/seats/decision-reads.ts'
import { ReceivedChanges } from '../../src/decision/seats/received-changes.ts'
import type { Source } from '../../src/model/decision.ts'

/** The reads of a decision that no change concerns. */
export function traceFrom(source: Source = 'memory'): DecisionReads {
  const reads = new DecisionReads(new ReceivedChanges())
  reads.source = source
  return reads
}
