-- turns: what was typed once is asked once
select prompt, sum(api_calls)::bigint as api_calls, count(*) as turns from turns group by all order by 1 desc;
