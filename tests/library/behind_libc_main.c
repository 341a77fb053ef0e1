int record_itself(void);

int main(void) { return record_itself(); }
