/** One thing that waits for a person, of whatever kind. */
import type { Waiting } from '@/api/run-types';
import { ApprovalCard } from './ApprovalCard';
import { BudgetCard } from './BudgetCard';
import { GateCard, UncertainCard } from './DecisionCards';
import { PlanCard } from './PlanCard';
import { QuestionCard } from './QuestionCard';

interface Props {
  waiting: Waiting;
  /** Keys act on the card that is selected. */
  hasKeys: boolean;
}

export function WaitingCard({ waiting, hasKeys }: Props) {
  const { approval, request, kind } = waiting;
  if (approval) return <ApprovalCard approval={approval} hasKeys={hasKeys} />;
  if (!request) return null;
  const props = { waiting, request, hasKeys };
  if (kind === 'question') return <QuestionCard {...props} />;
  if (kind === 'gate') return <GateCard {...props} />;
  if (kind === 'plan') return <PlanCard {...props} />;
  return kind === 'budget' ? <BudgetCard {...props} /> : <UncertainCard {...props} />;
}
