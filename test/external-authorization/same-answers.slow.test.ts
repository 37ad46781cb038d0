import t from 'tap'
import { checkSameAnswers } from './same-answers.ts'

t.test('random requests', (t) => checkSameAnswers(t, 200))
