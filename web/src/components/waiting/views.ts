/** Components that show what a gate is about, by the name a flow gives them; loaded when one is needed. */
import { type ComponentType, lazy } from 'react';
import type { Waiting, WaitRequest } from '@/api/run-types';

/** What would be approved: changed where there is a payload, and not ready while changes are not looked at. */
export interface Edited {
  isReady: boolean;
  payload?: unknown;
}

export interface ViewProps {
  waiting: Waiting;
  request: WaitRequest;
  onEdit: (edited: Edited) => void;
}

export const VIEWS: Partial<Record<string, ComponentType<ViewProps>>> = {
  'entity-rules': lazy(() => import('./RulesReview')),
  promotion: lazy(() => import('./PromotionReview')),
};
